/* SPDX-License-Identifier: MIT */
/*
 * Rules that the kernel cannot apply by itself: the rows that the engine gives to discovered
 * cgroups. Maps and iterators are played.
 */
#include "tests/unit/fake/blocks.h"
#include "tests/unit/fake/daemon.h"

#include "plugin/util/message.h"

#define CONTAINER_ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define BLOCKS                                                                           \
	"ServicesFrom \"none\"\n"                                                        \
	"<Service \"a\">\nUnit \"php-fpm@*.service\"\nContainer \"box-*\"\n</Service>\n" \
	"<Service \"b\">\nUnit \"php-fpm@7*.service\"\nCgroup \"x\"\n"                   \
	"Container \"0123456789ab\"\n</Service>"

static uint32_t scans; /* walks with SCAN_MATCH */
static struct object *object;

static void note(void)
{
	const uint32_t *mode = object_variable(object, "scan_mode", sizeof(*mode));

	scans += mode && *mode == SCAN_MATCH;
}

/* The kernel discovers a cgroup, which has this row by a Cgroup option. */
static void discover(struct fixture *f, uint64_t number, uint32_t kind, const char *text,
		     uint32_t rule)
{
	const struct group_id id = { .number = number };
	struct service_group group = {
		.key.kind = kind,
		.rule = rule,
		.is_pending = kind != GROUP_COMMAND,
	};

	strcpy(group.key.text, text);
	CHECK_INT(maps_put("service_groups", &id, &group), true);
	add_cgroup(f);
}

static struct service_group group_of(uint64_t number)
{
	const struct group_id id = { .number = number };
	struct service_group group = { .rule = 77, .is_pending = 77 };

	maps_get("service_groups", &id, &group);
	return group;
}

static uint32_t row_of(uint64_t number)
{
	const struct service_group group = group_of(number);

	return rule_of_group(&group);
}

static void start(struct fixture *f, const char *text)
{
	CHECK_INT(fixture_init(f, text), 0);
	bpf_map__fd(object_map(&f->services.object, "service_groups"));
	object = &f->services.object;
	maps_iterate(NULL, 0);
	maps_on_walk = note;
	scans = 0;
}

static void test_rows(void)
{
	static const struct {
		uint32_t kind;
		const char *text;
		uint32_t before, want, scans;
	} cases[] = {
		{ GROUP_UNIT, "php-fpm@8.2", 0, SERVICE_FIRST, 1 },
		{ GROUP_UNIT, "php-fpm@7.4", 0, SERVICE_FIRST, 1 },
		{ GROUP_UNIT, "php-fpm@7.4", SERVICE_FIRST + 1, SERVICE_FIRST, 1 },
		{ GROUP_UNIT, "php-fpm", 0, 0, 1 },
		{ GROUP_USER, "user-1000", 0, 0, 1 },
		{ GROUP_COMMAND, "php-fpm@8.2", 0, 0, 0 },
		{ GROUP_LXC, "box-1", 0, SERVICE_FIRST, 1 },
		{ GROUP_LXC, "boy-1", 0, 0, 1 },
		{ GROUP_UNIT, "box-1", 0, 0, 1 },
		{ GROUP_DOCKER, CONTAINER_ID, 0, SERVICE_FIRST + 1, 1 },
		{ GROUP_DOCKER, CONTAINER_ID, SERVICE_FIRST, SERVICE_FIRST, 0 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct fixture f;

		CASE("kind %u, %s, row %u before", cases[i].kind, cases[i].text, cases[i].before);
		start(&f, BLOCKS);
		discover(&f, 1, GROUP_COMMAND, "", 0);
		discover(&f, 2, cases[i].kind, cases[i].text, cases[i].before);
		resolver_run(&f.services.resolver, 1);
		CHECK_UINT(group_of(1).rule, 0);
		CHECK_UINT(group_of(1).is_pending, 0);
		CHECK_UINT(group_of(2).is_pending, 0);
		CHECK_UINT(group_of(2).rule, cases[i].before);
		CHECK_UINT(row_of(2), cases[i].want);
		CHECK_UINT(scans, cases[i].scans);
		CASE("once");
		resolver_run(&f.services.resolver, 1);
		CHECK_UINT(scans, cases[i].scans);
		fixture_done(&f);
	}
}

/* A cgroup is inspected once, even if another one appears, and again in the next round of names. */
static void test_once(void)
{
	const struct group_id id = { .number = 2 };
	struct service_group group;
	struct fixture f;

	CASE("once");
	start(&f, BLOCKS);
	discover(&f, 2, GROUP_LXC, "box-1", 0);
	resolver_run(&f.services.resolver, 1);
	group = group_of(2);
	CHECK_UINT(group.named_rule, SERVICE_FIRST);
	group.named_rule = 0;
	CHECK_INT(maps_put("service_groups", &id, &group), true);
	discover(&f, 3, GROUP_LXC, "box-2", 0);
	resolver_run(&f.services.resolver, 1);
	CHECK_UINT(group_of(2).named_rule, 0);
	CHECK_UINT(group_of(3).named_rule, SERVICE_FIRST);
	CASE("in the next round");
	begin_names(&f);
	resolver_run(&f.services.resolver, 1);
	CHECK_UINT(group_of(2).named_rule, SERVICE_FIRST);
	CHECK_UINT(scans, 3);
	CASE("in a round without a change");
	begin_names(&f);
	resolver_run(&f.services.resolver, 1);
	CHECK_UINT(scans, 3);
	fixture_done(&f);
}

/* A container that is renamed. The row that a Cgroup option gives it stays. */
static void test_renamed(void)
{
	static const struct {
		uint32_t by_cgroup, before, after;
	} cases[] = {
		{ 0, SERVICE_FIRST, 0 },
		{ SERVICE_FIRST + 1, SERVICE_FIRST, SERVICE_FIRST + 1 },
		{ SERVICE_FIRST, SERVICE_FIRST, SERVICE_FIRST },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct group_id id = { .number = 2 };
		struct service_group group;
		struct fixture f;

		CASE("renamed, case %zu", i);
		start(&f, BLOCKS);
		discover(&f, 2, GROUP_LXC, "box-1", cases[i].by_cgroup);
		resolver_run(&f.services.resolver, 1);
		CHECK_UINT(row_of(2), cases[i].before);
		scans = 0;
		group = group_of(2);
		strcpy(group.key.text, "bag-1");
		CHECK_INT(maps_put("service_groups", &id, &group), true);
		begin_names(&f);
		resolver_run(&f.services.resolver, 1);
		CHECK_UINT(group_of(2).named_rule, 0);
		CHECK_UINT(row_of(2), cases[i].after);
		CHECK_UINT(scans, cases[i].after != cases[i].before);
		fixture_done(&f);
	}
}

/* No cgroup is inspected if the kernel can apply all rules. */
static void test_needless(void)
{
	static const char *const configs[] = {
		"",
		"<Service \"a\">\nUnit \"nginx.service\"\nCgroup \"x\"\n</Service>",
	};

	for (size_t i = 0; i < COUNT_OF(configs); i++) {
		struct fixture f;

		CASE("the kernel follows, %s", configs[i]);
		start(&f, configs[i]);
		CHECK_UINT(f.services.resolver.cgroup_rules.sources, 0);
		fixture_done(&f);
	}
}

int main(void)
{
	message_to(daemon_record);
	test_rows();
	test_once();
	test_renamed();
	test_needless();
	daemon_clear();
	return testing_end();
}
