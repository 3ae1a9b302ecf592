/* SPDX-License-Identifier: MIT */
/*
 * Rules of Service blocks in the kernel's maps, and when the engine must inspect processes itself.
 * Maps and iterators are played.
 */
#include "tests/unit/fake/blocks.h"
#include "tests/unit/fake/daemon.h"

#include "plugin/util/message.h"

#include <errno.h>

static uint32_t row_of_key(uint32_t kind, const char *text)
{
	struct group_key key = { .kind = kind };
	struct service_name name;

	memcpy(key.text, text, strlen(text));
	return maps_get("service_names", &key, &name) ? name.row : 0;
}

static void test_commands(void)
{
	struct fixture f;

	CASE("commands");
	CHECK_INT(fixture_init(&f,
			       "<Service \"a\">\nProcess \"nginx\"\nProcess \"php\"\n</Service>\n"
			       "<Service \"b\">\nProcess \"perl\"\n"
			       "Process \"a-name-of-15-by\"\n</Service>"),
		  0);
	CHECK_UINT(maps_count("service_names"), 4);
	CHECK_UINT(row_of_key(GROUP_COMMAND, "nginx"), SERVICE_FIRST);
	CHECK_UINT(row_of_key(GROUP_COMMAND, "php"), SERVICE_FIRST);
	CHECK_UINT(row_of_key(GROUP_COMMAND, "perl"), SERVICE_FIRST + 1);
	CHECK_UINT(row_of_key(GROUP_COMMAND, "a-name-of-15-by"), SERVICE_FIRST + 1);
	CHECK_UINT(row_of_key(GROUP_COMMAND, "ngin"), 0);
	fixture_done(&f);
}

/* If several blocks name the same cgroup, the first one has it. */
static void test_groups(void)
{
	static const char id[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	struct fixture f;

	CASE("units and containers");
	CHECK_INT(fixture_init(&f, "<Service \"a\">\nUnit \"nginx.service\"\n"
				   "Unit \"php-fpm@*.service\"\nUnit \"user-7.slice\"\n</Service>\n"
				   "<Service \"b\">\nUnit \"cron\"\nContainer \"box\"\n"
				   "Container \"0123456789abcdef0123456789abcdef"
				   "0123456789abcdef0123456789abcdef\"\n</Service>"),
		  0);
	CHECK_UINT(row_of_key(GROUP_UNIT, "nginx"), SERVICE_FIRST);
	CHECK_UINT(row_of_key(GROUP_UNIT, "cron"), SERVICE_FIRST + 1);
	CHECK_UINT(row_of_key(GROUP_UNIT, "php-fpm@*"), 0);
	CHECK_UINT(row_of_key(GROUP_COMMAND, "nginx"), 0);
	CHECK_UINT(row_of_key(GROUP_USER, "user-7"), SERVICE_FIRST);
	CHECK_UINT(row_of_key(GROUP_LXC, "box"), SERVICE_FIRST + 1);
	CHECK_UINT(row_of_key(GROUP_DOCKER, "box"), 0);
	CHECK_UINT(row_of_key(GROUP_DOCKER, id), SERVICE_FIRST + 1);
	CHECK_UINT(row_of_key(GROUP_CRIO, id), SERVICE_FIRST + 1);
	fixture_done(&f);
}

/* The row at the end of a path; where the kernel finds no further directory, that of the lowest
 * one found, as on the BPF side. */
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
		{ "a/b", SERVICE_FIRST + 2 },
		{ "longer/x", SERVICE_FIRST + 2 },
		{ "", 0 },
	};
	struct fixture f;

	fixture_init(&f, "<Service \"a\">\nCgroup \"system.slice/nginx.service\"\n</Service>\n"
			 "<Service \"b\">\nCgroup \"user.slice/user-0.slice\"\n"
			 "Cgroup \"/user.slice/\"\n</Service>\n"
			 "<Service \"c\">\nCgroup \"a//b/c\"\nCgroup \"a\"\n"
			 "Cgroup \"longer/x\"\n</Service>");
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("cgroup \"%s\"", cases[i].path);
		CHECK_UINT(row_of_path(cases[i].path), cases[i].want);
	}
	fixture_done(&f);
}

/* The programs that follow cgroups are loaded only if a rule needs them. */
static void test_cgroup_program(void)
{
	static const struct {
		const char *text;
		bool want;
	} cases[] = {
		{ "", true },
		{ "ServicesFrom \"commands\"", false },
		{ "ServicesFrom \"none\"\n<Service \"a\">\nProcess \"nginx\"\n</Service>", false },
		{ "<Service \"a\">\nCgroup \"x\"\n</Service>", true },
		{ "<Service \"a\">\nUnit \"x\"\n</Service>", true },
	};
	static const char *const programs[] = { "service_cgroup", "service_cgroup_removed" };

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct fixture f;

		CASE("cgroup program, %s", cases[i].text);
		fixture_init(&f, cases[i].text);
		for (size_t j = 0; j < COUNT_OF(programs); j++)
			CHECK_INT(bpf_program__autoload(bpf_object__find_program_by_name(
					  f.services.object.bpf, programs[j])),
				  cases[i].want);
		fixture_done(&f);
	}
}

/* config_read() accepts none of these. */
static void test_long_cgroup(void)
{
	char name[CGROUP_NAME_LEN + 1], *paths[] = { name };
	struct service_config service = { .cgroups = { .item = paths, .count = 1 } };
	struct config config = { .services = &service, .service_count = 1 };
	struct error error = { "" };
	struct fixture f;

	CASE("a cgroup of too long a name");
	memset(name, 'x', sizeof(name));
	name[CGROUP_NAME_LEN] = '\0';
	fixture_init(&f, "");
	CHECK_INT(rules_prepare(&config, &f.services.object, &error), 0);
	CHECK_INT(rules_fill(&config, &f.services.object, &error), -ENAMETOOLONG);
	CHECK_HAS(error.text, "File name too long");
	fixture_done(&f);
}

#define FROM "ServicesFrom \"commands\"\n" /* containers of users need another walk */

static void test_need_proc(void)
{
	static const struct {
		const char *text;
		bool want;
	} cases[] = {
		{ FROM, false },
		{ FROM "<Service \"a\">\nProcess \"x\"\nCgroup \"y\"\n</Service>", false },
		{ FROM "<Service \"a\">\nProcessMatch \"x\"\n</Service>", true },
		{ FROM "<Service \"a\">\nProcess \"x\"\n</Service>\n"
		       "<Service \"b\">\nPidFile \"/x\"\n</Service>",
		  true },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct fixture f;

		CASE("need proc, %s", cases[i].text);
		fixture_init(&f, cases[i].text);
		CHECK_INT(config_needs_proc(&f.config), cases[i].want);
		CHECK_UINT(maps_walks, 1); /* discovers the processes that ran before */
		fixture_done(&f);
	}
}

/* Nothing has changed: two look-ups, no walk. */
static void test_nothing_new(void)
{
	struct fixture f;
	unsigned walks;

	CASE("nothing new");
	CHECK_INT(fixture_init(&f, "<Service \"a\">\nProcessMatch \"x\"\n</Service>"), 0);
	resolve(&f);
	walks = maps_walks;
	resolver_run(&f.services.resolver, 1);
	CHECK_UINT(maps_walks, walks);
	fixture_done(&f);
}

/* A process that got no storage is discovered by another walk, with or without rules. */
static void test_refused(void)
{
	static const char *const configs[] = {
		"",
		"<Service \"a\">\nProcessMatch \"x\"\n</Service>",
	};

	for (size_t i = 0; i < COUNT_OF(configs); i++) {
		struct fixture f;
		unsigned walks;

		CASE("refused, %s", configs[i]);
		CHECK_INT(fixture_init(&f, configs[i]), 0);
		walks = maps_walks;
		set_refused(&f, 1);
		resolver_run(&f.services.resolver, 1);
		CHECK_UINT(maps_walks, walks + 1);
		resolver_run(&f.services.resolver, 1);
		CHECK_UINT(maps_walks, walks + 1);
		fixture_done(&f);
	}
}

int main(void)
{
	message_to(daemon_record);
	test_commands();
	test_groups();
	test_cgroups();
	test_cgroup_program();
	test_long_cgroup();
	test_need_proc();
	test_nothing_new();
	test_refused();
	daemon_clear();
	return testing_end();
}
