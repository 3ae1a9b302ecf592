/* SPDX-License-Identifier: MIT */
/*
 * Files that a helper process reads: which files it accepts, and helpers that time out, which are
 * played by stopping the process.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/helper.h"

#include "plugin/helper/file.h"
#include "plugin/util/clock.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 100
#define WORDS_OF_REPLY (sizeof(struct read_reply) / sizeof(int32_t))
#define PATIENCE_MS 10000 /* for replies that come, on a machine of any load */

static char directory[] = "/tmp/test_file.XXXXXX";
static struct file_helper helper;
static unsigned wait_ms = PATIENCE_MS;
static enum file_budget budget;
static uid_t user;

static const char *path_of(const char *name)
{
	static char path[256];

	if (name[0] == '/')
		return name;
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void write_file(const char *name, size_t size)
{
	FILE *file = fopen(path_of(name), "w");

	for (size_t i = 0; file && i < size; i++)
		fputc('a' + (int)(i % 26), file);
	if (!file || fclose(file) != 0)
		abort();
}

static int read_as(uint64_t owner, const char *name, size_t size_max, bool cut, bool follow,
		   struct file *ret_file)
{
	struct file_request request = {
		.path = path_of(name),
		.size_max = size_max,
		.cut = cut,
		.follow = follow,
		.wait_ms = wait_ms,
		.budget = budget,
		.owner = owner,
		.user = user,
	};

	return file_read(&helper, &request, ret_file);
}

static void test_kinds(void)
{
	static const struct {
		const char *name;
		size_t size_max;
		bool cut, follow;
		int status;
		size_t size;
	} cases[] = {
		{ "small", 100, false, false, 0, 10 },
		{ "small", 10, false, false, 0, 10 },
		{ "small", 9, false, false, -EFBIG, 0 },
		{ "small", 9, true, false, 0, 9 },
		{ "small", 0, true, false, 0, 0 },
		{ "empty", 100, false, false, 0, 0 },
		{ "large", 1 << 20, false, false, 0, 300001 },
		{ "large", 300000, false, false, -EFBIG, 0 },
		{ "large", 70000, true, false, 0, 70000 },
		{ "none", 100, false, false, -ENOENT, 0 },
		{ "small/none", 100, false, false, -ENOTDIR, 0 },
		{ "link", 100, false, false, -ELOOP, 0 },
		{ "link", 100, false, true, 0, 10 },
		{ "fifo", 100, false, false, -EINVAL, 0 },
		{ "/dev/zero", 100, true, true, -EINVAL, 0 },
		{ "/proc", 100, true, true, -EISDIR, 0 },
		{ "/proc/version", 4, true, true, 0, 4 },
	};
	char destination[256];

	write_file("small", 10);
	write_file("empty", 0);
	write_file("large", 300001);
	snprintf(destination, sizeof(destination), "%s/small", directory);
	if (symlink(destination, path_of("link")) != 0 || mkfifo(path_of("fifo"), 0600) != 0)
		abort();
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct file file = { 0 };

		CASE("%s, at most %zu%s%s", cases[i].name, cases[i].size_max,
		     cases[i].cut ? ", cut" : "", cases[i].follow ? ", followed" : "");
		CHECK_INT(read_as(1, cases[i].name, cases[i].size_max, cases[i].cut,
				  cases[i].follow, &file),
			  cases[i].status);
		CHECK_UINT(file.size, cases[i].size);
		if (cases[i].status == 0) {
			CHECK_UINT(strlen(file.bytes), cases[i].size);
			CHECK_INT(cases[i].name[0] == '/' ||
					  !memcmp(file.bytes, "abcdefghijklmnopqrstuvwxyzabcdef",
						  file.size < 32 ? file.size : 32),
				  1);
			CHECK_UINT(file.owner, cases[i].name[0] == '/' ? 0 : geteuid());
		}
		free(file.bytes);
	}
}

/* Bytes come only if the file differs from what it was: written, replaced, or of another size. */
static void test_unless(void)
{
	static const char *const changes[] = { "echo x >>", "truncate -s 1", "touch -d 2000-01-01",
					       "chmod 600", "mv $(mktemp -p /tmp)" };
	struct file_request request = {
		.path = path_of("stamped"), .size_max = 100, .wait_ms = wait_ms, .budget = budget
	};
	char path[256], command[512];
	struct file file = { 0 };

	snprintf(path, sizeof(path), "%s", request.path);
	request.path = path;
	write_file("stamped", 10);
	CASE("for the first time");
	CHECK_INT(file_read(&helper, &request, &file), 0);
	request.unless = file.stamp;
	free(file.bytes);
	file.bytes = NULL;
	for (size_t i = 0; i < COUNT_OF(changes); i++) {
		CASE("the same, before %s", changes[i]);
		CHECK_INT(file_read(&helper, &request, &file), -EALREADY);
		CASE("after %s", changes[i]);
		snprintf(command, sizeof(command), "sleep 0.01; %s %s", changes[i], path);
		CHECK_INT(system(command), 0);
		CHECK_INT(file_read(&helper, &request, &file), 0);
		request.unless = file.stamp;
		free(file.bytes);
		file.bytes = NULL;
	}
	CASE("gone");
	CHECK_INT(unlink(path), 0);
	CHECK_INT(file_read(&helper, &request, &file), -ENOENT);
}

static void test_long_path(void)
{
	static char path[8192];
	struct file file;

	CASE("a path that is too long");
	memset(path, '/', sizeof(path) - 1);
	CHECK_INT(read_as(1, path, 10, true, true, &file), -ENAMETOOLONG);
}

/* The youngest child of a process, 0: it has none. */
static pid_t child_of(pid_t pid)
{
	char path[64];
	int child, youngest = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	file = fopen(path, "re");
	while (file && fscanf(file, "%d", &child) == 1)
		youngest = child;
	if (file)
		fclose(file);
	return (pid_t)youngest;
}

static double seconds_since(uint64_t begin_ns)
{
	return (double)(clock_ns() - begin_ns) / (double)NS_PER_S;
}

static unsigned count_descriptors(pid_t pid)
{
	char path[64];
	struct dirent *entry;
	unsigned count = 0;
	DIR *all;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	all = opendir(path);
	if (!all)
		abort();
	while ((entry = readdir(all)) != NULL)
		count += entry->d_name[0] != '.';
	closedir(all);
	return count;
}

/* A helper that times out is not used until it replies, and delays no other one. */
static void test_stuck(void)
{
	pid_t process = child_of(helper.starter);
	unsigned descriptors = count_descriptors(getpid());
	uint64_t begin_ns = clock_ns();
	struct file file = { 0 };

	CASE("a helper that times out");
	if (process <= 0 || kill(process, SIGSTOP) != 0)
		abort();
	wait_ms = WAIT_MS;
	CHECK_INT(read_as(7, "small", 100, false, false, &file), -ETIMEDOUT);
	wait_ms = PATIENCE_MS;
	CHECK_INT(seconds_since(begin_ns) >= WAIT_MS / 1000.0, 1);
	CHECK_INT(seconds_since(begin_ns) < PATIENCE_MS / 2000.0, 1);
	CHECK_UINT(file_helper_stuck(&helper), 1);
	CASE("it gets no second request");
	begin_ns = clock_ns();
	CHECK_INT(read_as(7, "small", 100, false, false, &file), -ETIMEDOUT);
	CHECK_INT(seconds_since(begin_ns) < PATIENCE_MS / 2000.0, 1);
	CASE("another is read");
	CHECK_INT(read_as(8, "small", 100, false, false, &file), 0);
	CHECK_UINT(file.size, 10);
	free(file.bytes);
	CASE("its late reply");
	kill(process, SIGCONT);
	for (int i = 0; i < 1000 && file_helper_stuck(&helper); i++) {
		usleep(5000);
		file_helper_refresh(&helper);
	}
	CHECK_UINT(file_helper_stuck(&helper), 0);
	CHECK_INT(read_as(7, "small", 100, false, false, &file), 0);
	free(file.bytes);
	CHECK_UINT(count_descriptors(getpid()), descriptors);
}

/* The helper is stopped, and does not answer for a file of this number. */
static void read_stuck(uint64_t owner, uid_t of)
{
	struct file file = { 0 };

	/* If there is no helper, this starts one. */
	if (read_as(100, "small", 100, false, false, &file) == 0)
		free(file.bytes);
	kill(child_of(helper.starter), SIGSTOP);
	wait_ms = WAIT_MS;
	user = of;
	CHECK_INT(read_as(owner, "small", 100, false, false, &file), -ETIMEDOUT);
	user = 0;
	wait_ms = PATIENCE_MS;
}

/* Files of one user cannot use up the budget of all. */
static void test_user_stuck(void)
{
	struct file file = { 0 };

	CASE("many of one user time out");
	for (uint64_t i = 1; i <= FILE_STUCK_USER_MAX; i++)
		read_stuck(i, 1000);
	user = 1000;
	CHECK_INT(read_as(99, "small", 100, false, false, &file), -EBUSY);
	user = 1001;
	CHECK_INT(read_as(99, "small", 100, false, false, &file), 0);
	free(file.bytes);
	user = 0;
	file_helper_done(&helper);
	file_helper_init(&helper);
}

/* As many as may time out; then nothing of this budget is read until one of them replies. */
static void test_many_stuck(void)
{
	struct file file = { 0 };
	pid_t starter;

	CASE("many time out");
	for (uint64_t i = 1; i <= FILE_STUCK_MAX; i++)
		read_stuck(i, 0);
	starter = helper.starter;
	CHECK_INT(read_as(99, "small", 100, false, false, &file), -EBUSY);
	for (budget = FILE_OF_PID_FILES; budget < FILE_BUDGETS; budget++) {
		CASE("many time out, another budget %d", (int)budget);
		file = (struct file){ 0 };
		CHECK_INT(read_as(99, "small", 100, false, false, &file), 0);
		free(file.bytes);
	}
	budget = FILE_OF_USERS;
	CASE("all exit with the caller");
	file_helper_done(&helper);
	CHECK_UINT(file_helper_stuck(&helper), 0);
	CHECK_INT(kill(starter, 0), -1);
	file_helper_init(&helper);
	CHECK_INT(read_as(99, "small", 100, false, false, &file), 0);
	free(file.bytes);
}

/* One of the two processes is killed, or both. */
static void test_killed(void)
{
	for (int which = 1; which <= 3; which++) {
		struct file file = { 0 };

		CASE("killed: %d", which);
		if (which & 1)
			kill(child_of(helper.starter), SIGKILL);
		if (which & 2)
			kill(helper.starter, SIGKILL);
		usleep(20000);
		CHECK_INT(read_as(1, "small", 100, false, false, &file), 0);
		free(file.bytes);
	}
}

/* Other code of this process has waited for the child, owner pid is another process's now. */
static void test_reused_pid(void)
{
	struct file_helper other;
	int ends[2];
	pid_t other_process;

	CASE("another process has the number");
	file_helper_init(&other);
	if (pipe(ends) != 0)
		abort();
	if (fork() == 0) {
		other_process = fork();
		if (other_process == 0) {
			close(ends[0]);
			sleep(60); /* keeps the other end open */
			_exit(0);
		}
		_exit(write(ends[1], &other_process, sizeof(other_process)) !=
		      sizeof(other_process));
	}
	if (read(ends[0], &other_process, sizeof(other_process)) != sizeof(other_process))
		abort();
	close(ends[1]);
	wait(NULL);
	set_helper_starter(&other, other_process, dup(0));
	file_helper_done(&other);
	CHECK_INT(other.starter, 0);
	CHECK_INT(poll(&(struct pollfd){ .fd = ends[0], .events = POLLIN }, 1, 100), 0);
	kill(other_process, SIGKILL);
	close(ends[0]);
}

/* Errors of file systems that would otherwise mean that a helper does not reply. */
static void test_errors_of_files(void)
{
	static const int errors[] = { ETIMEDOUT, EPIPE, EBUSY };

	for (size_t i = 0; i < COUNT_OF(errors); i++) {
		int32_t replies[2 * WORDS_OF_REPLY + 1] = { -errors[i],
							    [2 * WORDS_OF_REPLY] = -errors[i] };
		struct file_helper other;
		struct file file;
		int ends[2];

		CASE("%s, of open and of read", strerror(errors[i]));
		file_helper_init(&other);
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 ||
		    write(ends[1], replies, sizeof(replies)) != sizeof(replies))
			abort();
		set_helper_socket(&other, ends[0]);
		for (int n = 0; n < 2; n++) {
			struct file_request request = { .path = "/",
							.size_max = 1,
							.wait_ms = WAIT_MS };

			CHECK_INT(file_read(&other, &request, &file), -EIO);
			CHECK_UINT(file_helper_stuck(&other), 0);
			CHECK_INT(other.helper_fd, ends[0]);
		}
		file_helper_done(&other);
		close(ends[1]);
	}
}

static void end_at_signal(int number)
{
	(void)number;
	_exit(3);
}

/* A signal to all processes of the daemon's name ends neither of the two, and runs no handler of
 * the daemon in them. */
static void test_signals(void)
{
	pid_t process = child_of(helper.starter);
	struct file file = { 0 };

	CASE("signals");
	kill(helper.starter, SIGUSR1);
	kill(process, SIGUSR1);
	kill(process, SIGHUP);
	usleep(20000);
	CHECK_INT(read_as(1, "small", 100, false, false, &file), 0);
	CHECK_INT(child_of(helper.starter), process);
	free(file.bytes);
}

/* The processes have no descriptor of ours except their end of a socket. */
static void test_descriptors(void)
{
	pid_t processes[] = { helper.starter, child_of(helper.starter) };

	for (size_t i = 0; i < COUNT_OF(processes); i++) {
		CASE("descriptors of process %zu", i);
		/* The file that was read last may be open for a moment longer. */
		for (int n = 0; n < 1000 && count_descriptors(processes[i]) != 1; n++)
			usleep(1000);
		CHECK_UINT(count_descriptors(processes[i]), 1);
	}
}

int main(void)
{
	if (!mkdtemp(directory))
		abort();
	signal(SIGUSR1, end_at_signal);
	signal(SIGHUP, end_at_signal);
	file_helper_init(&helper);
	test_kinds();
	test_unless();
	test_long_path();
	test_descriptors();
	test_signals();
	test_stuck();
	test_user_stuck();
	test_many_stuck();
	test_killed();
	test_reused_pid();
	test_errors_of_files();
	file_helper_done(&helper);
	for (size_t i = 0; i < 5; i++)
		unlink(path_of((const char *[]){ "small", "empty", "large", "link", "fifo" }[i]));
	rmdir(directory);
	return testing_end();
}
