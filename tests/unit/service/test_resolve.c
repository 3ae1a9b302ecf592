/* SPDX-License-Identifier: MIT */
/*
 * Rules of Service blocks that the engine applies: command lines and pid files. Maps and iterators
 * are played; the processes and /proc are real.
 */
#include "tests/unit/fake/blocks.h"
#include "tests/unit/fake/daemon.h"

#include "plugin/util/message.h"
#include "plugin/util/regex.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

/* Time passes only while an expression is matched with a long line. */
static uint64_t now_ns = 1000000000;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	(void)clock;
	ret_now->tv_sec = (time_t)(now_ns / 1000000000);
	ret_now->tv_nsec = (long)(now_ns % 1000000000);
	return 0;
}

bool __real_regex_match(const struct regex *regex, const char *text);
bool __wrap_regex_match(const struct regex *regex, const char *text);
bool __wrap_regex_match(const struct regex *regex, const char *text)
{
	if (strlen(text) > 1000)
		now_ns += 25 * 1000000;
	return __real_regex_match(regex, text);
}

/* A process with this command line, which sleeps until it is killed. */
static pid_t spawn(const char *const words[])
{
	int ready[2];
	pid_t pid;
	char byte;

	if (pipe2(ready, O_CLOEXEC) != 0)
		abort();
	pid = fork();
	if (pid == 0) {
		execv("/bin/sleep", (char *const *)words);
		_exit(127);
	}
	close(ready[1]);
	/* The other end is closed at exec. */
	if (read(ready[0], &byte, 1) != 0)
		abort();
	close(ready[0]);
	return pid;
}

static void reap(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Command lines of real processes, matched with expressions. */
static void test_matches(void)
{
	static const char config[] = "<Service \"app\">\nProcessMatch \"^/opt/app/\"\n</Service>\n"
				     "<Service \"late\">\nProcess \"x\"\n</Service>\n"
				     "<Service \"long\">\nProcessMatch \" 99[0-9]\"\n"
				     "ProcessMatch \"/opt/app/late\"\n</Service>";
	static const struct {
		const char *words[4];
		uint32_t row, want;
	} cases[] = {
		{ { "/opt/app/server", "1000" }, SERVICE_OTHER, SERVICE_FIRST },
		{ { "/opt/app/server", "1000" }, SERVICE_FIRST, 0 },
		{ { "/opt/app/server", "1000" }, SERVICE_FIRST + 1, SERVICE_FIRST },
		{ { "/opt/app/server", "1000" }, SERVICE_FIRST + 7, SERVICE_FIRST },
		{ { "/opt/app/late", "995" }, SERVICE_OTHER, SERVICE_FIRST },
		{ { "sleep", "991", "992" }, SERVICE_OTHER, SERVICE_FIRST + 2 },
		{ { "sleep", "1000", "998" }, SERVICE_OTHER, SERVICE_FIRST + 2 },
		{ { "sleep", "991" }, SERVICE_FIRST + 1, 0 },
		{ { "sleep", "1000" }, SERVICE_OTHER, 0 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		pid_t pid = spawn(cases[i].words);
		struct fixture f;

		CASE("match %zu: %s in row %u", i, cases[i].words[0], cases[i].row);
		CHECK_INT(fixture_init(&f, config), 0);
		list(pid, 1, cases[i].row);
		resolve(&f);
		CHECK_UINT(assignments[0].row, cases[i].want);
		CHECK_UINT(assignments[0].start_ns, cases[i].want ? 1000 + (uint64_t)pid : 0);
		fixture_done(&f);
		reap(pid);
	}
}

/* Command lines that need long to match delay processes of the same user only. */
static void test_slow_lines(void)
{
	static char slow[4000];
	pid_t pids[PROCESSES_MAX];
	struct fixture f;
	uint32_t pid_last;

	memset(slow, 'a', sizeof(slow) - 1);
	CASE("slow lines of another user");
	CHECK_INT(fixture_init(&f, "<Service \"a\">\nProcessMatch \"d$\"\n</Service>\n"
				   "<Service \"b\">\nProcessMatch \"^prompt\"\n</Service>"),
		  0);
	for (size_t i = 0; i < PROCESSES_MAX; i++) {
		bool last = i == PROCESSES_MAX - 1;

		pids[i] = spawn((const char *const[]){ last ? "prompt" : slow, "1000", NULL });
		list(pids[i], 1, SERVICE_OTHER)->uid = last ? 1000 : 1001;
	}
	pid_last = (uint32_t)pids[PROCESSES_MAX - 1];
	resolve(&f);
	CHECK_UINT(assignments[PROCESSES_MAX - 1].row, SERVICE_FIRST + 1);
	CHECK_UINT(assignments[0].row, 0);
	for (size_t i = 1; i < PROCESSES_MAX - 1; i++)
		CHECK_UINT(assignments[i].row, ASSIGNMENT_RETRY);
	CASE("the next reading");
	for (size_t i = 1; i < PROCESSES_MAX - 1; i++)
		list(pids[i], 1, SERVICE_OTHER)->uid = 1001;
	list((pid_t)pid_last, 1, SERVICE_OTHER)->uid = 1000;
	resolve(&f);
	CHECK_UINT(assignments[0].row, 0);
	CHECK_UINT(assignments[1].row, ASSIGNMENT_RETRY);
	CHECK_UINT(assignments[PROCESSES_MAX - 2].row, SERVICE_FIRST + 1);
	fixture_done(&f);
	for (size_t i = 0; i < PROCESSES_MAX; i++)
		reap(pids[i]);
}

/* A process that has exited, and a kernel thread, have no command line. */
static void test_no_line(void)
{
	pid_t pid = spawn((const char *const[]){ "sleep", "1000", NULL });
	struct fixture f;

	CASE("no command line");
	reap(pid);
	CHECK_INT(fixture_init(&f, "<Service \"a\">\nProcessMatch \".*\"\n</Service>"), 0);
	list(pid, 1, SERVICE_OTHER);
	resolve(&f);
	CHECK_UINT(assignments[0].row, 0);
	fixture_done(&f);
}

static void write_pid(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(text, file) < 0 || fclose(file)) {
		perror(path);
		exit(1);
	}
}

/* The process in the file, and processes that it had forked before. */
static void test_pid_file(void)
{
	static const struct {
		const char *name, *content;
		uint32_t want;
	} cases[] = {
		{ "a number", "4190002", SERVICE_FIRST + 1 },
		{ "a line", "4190002\n", SERVICE_FIRST + 1 },
		{ "spaces", "  4190002 \n", SERVICE_FIRST + 1 },
		{ "no number", "nginx\n", 0 },
		{ "empty", "", 0 },
		{ "negative", "-4190002\n", 0 },
		{ "zero", "0\n", 0 },
		{ "too large", "99999999999999999999\n", 0 },
	};
	char path[] = "/tmp/test_resolve.XXXXXX", text[256];
	int fd = mkstemp(path);

	if (fd < 0)
		abort();
	close(fd);
	snprintf(text, sizeof(text),
		 "<Service \"a\">\nProcess \"x\"\n</Service>\n"
		 "<Service \"b\">\nPidFile \"/none/of/these.pid\"\nPidFile \"%s\"\n</Service>",
		 path);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct fixture f;

		CASE("pid file, %s", cases[i].name);
		write_pid(path, "");
		CHECK_INT(fixture_init(&f, text), 0);
		write_pid(path, cases[i].content);
		list_forked(4190003, 4190002, SERVICE_OTHER);
		list(4190002, 1, SERVICE_OTHER);
		list_forked(4190004, 4190003, SERVICE_FIRST);
		list(4190005, 1, SERVICE_OTHER);
		list_forked(4190006, 4190003, SERVICE_OTHER);
		list(4190007, 4190002, SERVICE_OTHER);
		resolve(&f);
		CHECK_UINT(assignments[1].row, cases[i].want);
		CHECK_UINT(assignments[0].row, cases[i].want);
		CHECK_UINT(assignments[2].row, 0);
		CHECK_UINT(assignments[3].row, 0);
		CHECK_UINT(assignments[4].row, cases[i].want);
		CHECK_UINT(assignments[5].row, 0);
		fixture_done(&f);
	}
	unlink(path);
}

/* A pid file whose owner is not root counts for processes of that owner only. */
static void test_pid_file_owner(void)
{
	static const struct {
		const char *name;
		uint32_t uid, want; /* uid: added to the owner's */
	} cases[] = { { "its owner's process", 0, SERVICE_FIRST },
		      { "another user's process", 1, 0 } };
	char path[] = "/tmp/test_resolve.XXXXXX", text[256];
	int fd = mkstemp(path);
	uid_t owner = geteuid() ?: 65533;

	if (fd < 0 || fchown(fd, owner, (gid_t)-1) != 0)
		abort();
	close(fd);
	snprintf(text, sizeof(text), "<Service \"a\">\nPidFile \"%s\"\n</Service>", path);
	write_pid(path, "4190002\n");
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct fixture f;

		CASE("pid file, %s", cases[i].name);
		CHECK_INT(fixture_init(&f, text), 0);
		list(4190002, 1, SERVICE_OTHER)->uid = owner + cases[i].uid;
		resolve(&f);
		CHECK_UINT(assignments[0].row, cases[i].want);
		fixture_done(&f);
	}
	unlink(path);
}

/* If a pid file and an expression fit, the first service gets the process. */
static void test_pid_file_and_match(void)
{
	pid_t pid = spawn((const char *const[]){ "both", "1000", NULL });
	char path[] = "/tmp/test_resolve.XXXXXX", text[256], number[16];
	int fd = mkstemp(path);

	if (fd < 0)
		abort();
	close(fd);
	snprintf(number, sizeof(number), "%d", (int)pid);
	for (int file_first = 0; file_first < 2; file_first++) {
		struct fixture f;

		CASE("pid file %s", file_first ? "first" : "last");
		snprintf(text, sizeof(text),
			 "<Service \"a\">\n%s \"%s\"\n</Service>\n"
			 "<Service \"b\">\n%s \"%s\"\n</Service>",
			 file_first ? "PidFile" : "ProcessMatch", file_first ? path : "^both",
			 file_first ? "ProcessMatch" : "PidFile", file_first ? "^both" : path);
		write_pid(path, "");
		CHECK_INT(fixture_init(&f, text), 0);
		write_pid(path, number);
		list(pid, 1, SERVICE_OTHER);
		resolve(&f);
		CHECK_UINT(assignments[0].row, SERVICE_FIRST);
		fixture_done(&f);
	}
	unlink(path);
	reap(pid);
}

/* A new pid in the file causes a walk, the same pid does not. */
static void test_pid_file_changes(void)
{
	char path[] = "/tmp/test_resolve.XXXXXX", text[256];
	int fd = mkstemp(path);
	struct fixture f;
	unsigned walks;

	if (fd < 0)
		abort();
	close(fd);
	CASE("a pid file that is written later");
	snprintf(text, sizeof(text), "<Service \"a\">\nPidFile \"%s\"\n</Service>", path);
	CHECK_INT(fixture_init(&f, text), 0);
	walks = maps_walks;
	write_pid(path, "4190002\n");
	resolver_run(&f.services.resolver, 1);
	CHECK_UINT(maps_walks, walks + 1);
	CASE("the same");
	resolver_run(&f.services.resolver, 1);
	CHECK_UINT(maps_walks, walks + 1);
	CASE("another");
	write_pid(path, "4190003\n");
	resolver_run(&f.services.resolver, 1);
	CHECK_UINT(maps_walks, walks + 2);
	CASE("removed");
	unlink(path);
	resolver_run(&f.services.resolver, 1);
	CHECK_UINT(maps_walks, walks + 2);
	fixture_done(&f);
}

/* There are free rows, but the walk that should assign them fails: the next one assigns them. */
static void test_failed_walk(void)
{
	struct fixture f;
	unsigned walks;

	CASE("room, and a walk that fails");
	CHECK_INT(fixture_init(&f, "<Service \"a\">\nProcess \"a\"\n</Service>"), 0);
	set_free_rows(&f, 1);
	set_unassigned_name(&f);
	maps_fail_walks = EMFILE;
	resolver_run(&f.services.resolver, 1);
	CHECK_INT(f.services.resolver.failing, true);
	CASE("room, and a walk that works");
	maps_fail_walks = 0;
	walks = maps_walks;
	resolver_run(&f.services.resolver, 1);
	CHECK_INT(f.services.resolver.failing, false);
	CHECK_UINT(maps_walks, walks + 1);
	fixture_done(&f);
}

/* More processes than the map of assignments has entries. */
static void test_many(void)
{
	pid_t pids[3];
	struct fixture f;

	CASE("many");
	CHECK_INT(fixture_init(&f, "<Service \"a\">\nProcessMatch \"^many\"\n</Service>"), 0);
	bpf_map__set_max_entries(bpf_object__find_map_by_name(f.services.object.bpf, "assignments"),
				 2);
	for (size_t i = 0; i < COUNT_OF(pids); i++) {
		pids[i] = spawn((const char *const[]){ "many", "1000", NULL });
		list(pids[i], 1, SERVICE_OTHER);
	}
	resolve(&f);
	for (size_t i = 0; i < COUNT_OF(pids); i++) {
		CHECK_UINT(assignments[i].row, SERVICE_FIRST);
		reap(pids[i]);
	}
	fixture_done(&f);
}

int main(void)
{
	message_to(daemon_record);
	test_matches();
	test_slow_lines();
	test_no_line();
	test_pid_file();
	test_pid_file_owner();
	test_pid_file_and_match();
	test_pid_file_changes();
	test_many();
	test_failed_walk();
	daemon_clear();
	return testing_end();
}
