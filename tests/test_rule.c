/* SPDX-License-Identifier: MIT */
/*
 * What Service blocks ask for: handed down as maps, or matched here against command lines and pid
 * files. Maps and iterators are played; the processes and /proc are real.
 */
#include "testing.h"

#include "daemon.h"
#include "maps.h"
#include "oconfig.h"

#include "bpf/service.h"
#include "plugin/message.h"
#include "plugin/rule.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES_MAX 4

struct fixture {
	struct config config;
	struct services services;
	struct service_news news;
	struct bpf_link *walk; /* stands for the iterator of the object */
};

static int fixture_init(struct fixture *f, const char *text)
{
	oconfig_item_t *block = oconfig_read(text);
	struct object *object = &f->services.object;
	struct error error = { "" };

	*f = (struct fixture){ .services = { .news = &f->news, .config = &f->config } };
	CHECK_INT(config_init(&f->config, "/"), 0);
	CHECK_UINT(config_read(&f->config, block), 0);
	oconfig_free(block);
	if (object_open(object, "services", testing_built("bpf/service.bpf.o"), &error)) {
		printf("%s\n", error.text);
		exit(1);
	}
	object->walks = &f->walk;
	object->walk_count = 1;
	bpf_map__fd(bpf_object__find_map_by_name(object->bpf, "orders"));
	CHECK_INT(rules_prepare(&f->config, object, &error), 0);
	CHECK_INT(rules_fill(&f->config, object, &error), 0);
	return rules_start(&f->services, &error);
}

static void fixture_done(struct fixture *f)
{
	maps_clear();
	f->services.object.walks = NULL;
	f->services.object.walk_count = 0;
	free(f->services.pids);
	object_done(&f->services.object);
	config_done(&f->config);
}

static uint32_t row_of_name(const char *text)
{
	struct service_name name = { "" };
	uint32_t row = 0;

	memcpy(name.text, text, strlen(text));
	return maps_get("service_names", &name, &row) ? row : 0;
}

/* The first service of a command name has it. */
static void test_commands(void)
{
	struct fixture f;

	CASE("commands");
	CHECK_INT(fixture_init(&f,
			       "<Service \"a\">\nProcess \"nginx\"\nProcess \"php\"\n</Service>\n"
			       "<Service \"b\">\nProcess \"php\"\nProcess \"perl\"\n"
			       "Process \"a-name-of-15-by\"\n</Service>"),
		  0);
	CHECK_UINT(maps_count("service_names"), 4);
	CHECK_UINT(row_of_name("nginx"), SERVICE_FIRST);
	CHECK_UINT(row_of_name("php"), SERVICE_FIRST);
	CHECK_UINT(row_of_name("perl"), SERVICE_FIRST + 1);
	CHECK_UINT(row_of_name("a-name-of-15-by"), SERVICE_FIRST + 1);
	CHECK_UINT(row_of_name("ngin"), 0);
	fixture_done(&f);
}

/* The row at the end of a path, or of what is left of it where the kernel finds no further step:
 * the lowest on the way, as the BPF side takes it. */
static uint32_t row_of_path(const char *path)
{
	uint32_t parent = 0, row = 0;

	while (*path) {
		struct cgroup_step step = { .parent = parent };
		struct cgroup_node node;
		size_t length = strcspn(path, "/");

		memcpy(step.name, path, length);
		if (!maps_get("service_cgroups", &step, &node))
			break;
		if (node.row && (!row || node.row < row))
			row = node.row;
		parent = node.node;
		path += length + (path[length] == '/');
	}
	return row;
}

static void test_cgroups(void)
{
	static const struct {
		const char *path;
		uint32_t want;
	} cases[] = {
		{ "system.slice/nginx.service", SERVICE_FIRST },
		{ "system.slice/nginx.service/worker/1", SERVICE_FIRST },
		{ "system.slice", 0 },
		{ "system.slice/nginx", 0 },
		{ "system.slice/nginx.service2", 0 },
		{ "nginx.service", 0 },
		{ "user.slice", SERVICE_FIRST + 1 },
		{ "user.slice/user-0.slice", SERVICE_FIRST + 1 },
		{ "user.slice/nginx.service", SERVICE_FIRST + 1 },
		{ "a/b/c", SERVICE_FIRST + 2 },
		{ "a/b", 0 },
		{ "", 0 },
	};
	struct fixture f;

	fixture_init(&f, "<Service \"a\">\nCgroup \"system.slice/nginx.service\"\n</Service>\n"
			 "<Service \"b\">\nCgroup \"/user.slice/\"\n"
			 "Cgroup \"user.slice/user-0.slice\"\n</Service>\n"
			 "<Service \"c\">\nCgroup \"a//b/c\"\nCgroup \"user.slice\"\n</Service>");
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("cgroup \"%s\"", cases[i].path);
		CHECK_UINT(row_of_path(cases[i].path), cases[i].want);
	}
	fixture_done(&f);
}

/* The program that follows moves between cgroups is loaded for rules alone. */
static void test_cgroup_program(void)
{
	static const struct {
		const char *text;
		bool want;
	} cases[] = {
		{ "", false },
		{ "<Service \"a\">\nProcess \"nginx\"\n</Service>", false },
		{ "<Service \"a\">\nCgroup \"x\"\n</Service>", true },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct fixture f;

		CASE("cgroup program, %s", cases[i].text);
		fixture_init(&f, cases[i].text);
		CHECK_INT(bpf_program__autoload(bpf_object__find_program_by_name(
				  f.services.object.bpf, "service_cgroup")),
			  cases[i].want);
		fixture_done(&f);
	}
}

static void test_long_cgroup(void)
{
	char text[512], name[CGROUP_NAME_LEN + 1];
	struct error error = { "" };
	struct config config;
	struct fixture f;
	oconfig_item_t *block;

	CASE("a cgroup of too long a name");
	memset(name, 'x', sizeof(name));
	name[CGROUP_NAME_LEN] = '\0';
	snprintf(text, sizeof(text), "<Service \"a\">\nCgroup \"top/%s\"\n</Service>", name);
	block = oconfig_read(text);
	fixture_init(&f, "");
	config_init(&config, "/");
	config_read(&config, block);
	CHECK_INT(rules_prepare(&config, &f.services.object, &error), 0);
	CHECK_INT(rules_fill(&config, &f.services.object, &error), -ENAMETOOLONG);
	CHECK_HAS(error.text, "File name too long");
	config_done(&config);
	oconfig_free(block);
	fixture_done(&f);
}

static void test_need_proc(void)
{
	static const struct {
		const char *text;
		bool want;
	} cases[] = {
		{ "", false },
		{ "<Service \"a\">\nProcess \"x\"\nCgroup \"y\"\n</Service>", false },
		{ "<Service \"a\">\nProcessMatch \"x\"\n</Service>", true },
		{ "<Service \"a\">\nProcess \"x\"\n</Service>\n"
		  "<Service \"b\">\nPidFile \"/x\"\n</Service>",
		  true },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct fixture f;

		CASE("need proc, %s", cases[i].text);
		fixture_init(&f, cases[i].text);
		CHECK_INT(rules_need_proc(&f.config), cases[i].want);
		CHECK_UINT(maps_walks, 1); /* meets the processes that ran before */
		fixture_done(&f);
	}
}

/* A process whose command line is these words; it sleeps until it is killed. */
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
	/* The other end closes at exec. */
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

/* The processes of a test: what the kernel lists, and the orders that it gets. They are in the map
 * while the kernel carries them out, which is a walk. */
static struct fresh_process listed[PROCESSES_MAX];
static struct order orders[PROCESSES_MAX];
static size_t listed_count;

static void take_orders(void)
{
	for (size_t i = 0; i < listed_count; i++) {
		struct order order;

		if (maps_get("orders", &listed[i].pid, &order))
			orders[i] = order;
	}
}

/* A process that the kernel has given a row. */
static void list(pid_t pid, pid_t parent, uint32_t row)
{
	listed[listed_count++] = (struct fresh_process){
		.start_ns = 1000 + (uint64_t)pid,
		.pid = (uint32_t)pid,
		.parent = (uint32_t)parent,
		.row = row,
	};
}

/* Something has been executed since; the engine looks after it. */
static void resolve(struct fixture *f)
{
	struct error error = { "" };

	memset(orders, 0, sizeof(orders));
	maps_iterate(listed, listed_count * sizeof(*listed));
	maps_on_walk = take_orders;
	f->news.fresh++;
	CHECK_INT(rules_resolve(&f->services, &error), 0);
	CHECK_UINT(maps_count("orders"), 0);
	listed_count = 0;
}

/* Command lines of real processes against expressions. */
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
		CHECK_UINT(orders[0].row, cases[i].want);
		CHECK_UINT(orders[0].start_ns, cases[i].want ? 1000 + (uint64_t)pid : 0);
		fixture_done(&f);
		reap(pid);
	}
}

/* A process that is gone by now, and a kernel thread, have no command line. */
static void test_no_line(void)
{
	pid_t pid = spawn((const char *const[]){ "sleep", "1000", NULL });
	struct fixture f;

	CASE("no command line");
	reap(pid);
	CHECK_INT(fixture_init(&f, "<Service \"a\">\nProcessMatch \".*\"\n</Service>"), 0);
	list(pid, 1, SERVICE_OTHER);
	resolve(&f);
	CHECK_UINT(orders[0].row, 0);
	fixture_done(&f);
}

/* Nothing new: two look-ups, no walk. */
static void test_nothing_new(void)
{
	struct error error = { "" };
	struct fixture f;
	unsigned walks;

	CASE("nothing new");
	CHECK_INT(fixture_init(&f, "<Service \"a\">\nProcessMatch \"x\"\n</Service>"), 0);
	resolve(&f);
	walks = maps_walks;
	CHECK_INT(rules_resolve(&f.services, &error), 0);
	CHECK_UINT(maps_walks, walks);
	fixture_done(&f);
}

/* A process that was refused its storage is met by another walk, with or without rules. */
static void test_refused(void)
{
	static const char *const configs[] = {
		"",
		"<Service \"a\">\nProcessMatch \"x\"\n</Service>",
	};

	for (size_t i = 0; i < COUNT_OF(configs); i++) {
		struct error error = { "" };
		struct fixture f;
		unsigned walks;

		CASE("refused, %s", configs[i]);
		CHECK_INT(fixture_init(&f, configs[i]), 0);
		walks = maps_walks;
		f.news.refused = 1;
		CHECK_INT(rules_resolve(&f.services, &error), 0);
		CHECK_UINT(maps_walks, walks + 1);
		CHECK_INT(rules_resolve(&f.services, &error), 0);
		CHECK_UINT(maps_walks, walks + 1);
		fixture_done(&f);
	}
}

static void write_pid(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(text, file) < 0 || fclose(file)) {
		perror(path);
		exit(1);
	}
}

/* The process that the file names, and those that it had forked before. */
static void test_pid_file(void)
{
	static const struct {
		const char *name, *content;
		uint32_t want;
	} cases[] = {
		{ "a number", "40000002", SERVICE_FIRST + 1 },
		{ "a line", "40000002\n", SERVICE_FIRST + 1 },
		{ "spaces", "  40000002 \n", SERVICE_FIRST + 1 },
		{ "no number", "nginx\n", 0 },
		{ "empty", "", 0 },
		{ "negative", "-40000002\n", 0 },
		{ "zero", "0\n", 0 },
		{ "too large", "99999999999999999999\n", 0 },
	};
	char path[] = "/tmp/test_rule.XXXXXX", text[256];
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
		list(40000003, 40000002, SERVICE_OTHER);
		list(40000002, 1, SERVICE_OTHER);
		list(40000004, 40000003, SERVICE_FIRST);
		list(40000005, 1, SERVICE_OTHER);
		resolve(&f);
		CHECK_UINT(orders[1].row, cases[i].want);
		CHECK_UINT(orders[0].row, cases[i].want);
		CHECK_UINT(orders[2].row, 0);
		CHECK_UINT(orders[3].row, 0);
		fixture_done(&f);
	}
	unlink(path);
}

/* Both a pid file and an expression fit: the first service has it. */
static void test_pid_file_and_match(void)
{
	pid_t pid = spawn((const char *const[]){ "both", "1000", NULL });
	char path[] = "/tmp/test_rule.XXXXXX", text[256], number[16];
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
		CHECK_UINT(orders[0].row, SERVICE_FIRST);
		fixture_done(&f);
	}
	unlink(path);
	reap(pid);
}

/* Another pid in the file is news by itself, the same one is none. */
static void test_pid_file_changes(void)
{
	char path[] = "/tmp/test_rule.XXXXXX", text[256];
	struct error error = { "" };
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
	write_pid(path, "40000002\n");
	CHECK_INT(rules_resolve(&f.services, &error), 0);
	CHECK_UINT(maps_walks, walks + 1);
	CASE("the same");
	CHECK_INT(rules_resolve(&f.services, &error), 0);
	CHECK_UINT(maps_walks, walks + 1);
	CASE("another");
	write_pid(path, "40000003\n");
	CHECK_INT(rules_resolve(&f.services, &error), 0);
	CHECK_UINT(maps_walks, walks + 2);
	CASE("gone");
	unlink(path);
	CHECK_INT(rules_resolve(&f.services, &error), 0);
	CHECK_UINT(maps_walks, walks + 2);
	fixture_done(&f);
}

/* More processes than one map of orders holds. */
static void test_many(void)
{
	pid_t pids[3];
	struct fixture f;

	CASE("many");
	CHECK_INT(fixture_init(&f, "<Service \"a\">\nProcessMatch \"^many\"\n</Service>"), 0);
	bpf_map__set_max_entries(bpf_object__find_map_by_name(f.services.object.bpf, "orders"), 2);
	for (size_t i = 0; i < COUNT_OF(pids); i++) {
		pids[i] = spawn((const char *const[]){ "many", "1000", NULL });
		list(pids[i], 1, SERVICE_OTHER);
	}
	resolve(&f);
	for (size_t i = 0; i < COUNT_OF(pids); i++) {
		CHECK_UINT(orders[i].row, SERVICE_FIRST);
		reap(pids[i]);
	}
	fixture_done(&f);
}

int main(void)
{
	message_to(daemon_take);
	test_commands();
	test_cgroups();
	test_cgroup_program();
	test_long_cgroup();
	test_need_proc();
	test_matches();
	test_no_line();
	test_nothing_new();
	test_refused();
	test_pid_file();
	test_pid_file_and_match();
	test_pid_file_changes();
	test_many();
	daemon_clear();
	return testing_end();
}
