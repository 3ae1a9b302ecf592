/* SPDX-License-Identifier: MIT */
/*
 * Rules that the kernel cannot apply by itself: the rows that the engine gives to discovered
 * cgroups. Maps and iterators are played.
 */
#include "tests/unit/fake/blocks.h"
#include "tests/unit/fake/daemon.h"

#include "plugin/cgroup/state.h"
#include "plugin/util/message.h"

#include <errno.h>
#include <time.h>

#define CONTAINER_ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define BLOCKS                                                                           \
	"ServicesFrom \"none\"\n"                                                        \
	"<Service \"a\">\nUnit \"php-fpm@*.service\"\nContainer \"box-*\"\n</Service>\n" \
	"<Service \"b\">\nUnit \"php-fpm@7*.service\"\nCgroup \"x\"\n"                   \
	"Container \"0123456789ab\"\n</Service>"

/* Replaces the function of the C library: a busy machine takes nothing of a user's quota. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	(void)clock;
	*ret_now = (struct timespec){ .tv_sec = 1000 };
	return 0;
}

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

/* --- containers of users --- */

#define USERS_CONF "MaxServices 8\nServicesFrom \"containers\" \"units\"\n"
#define ALICE_BLOCK "<Service \"a\">\nUnit \"user-alice\"\n</Service>\n"
#define WEB_BLOCK                                        \
	"<Service \"w\">\nContainer \"*\"\n</Service>\n" \
	"<Service \"b\">\nContainer \"user-alice:web\"\n</Service>\n"

static bool has_state; /* of alice's containers: each is called web */

/* Replaces the function of the library. */
int __wrap_file_read(struct file_helper *helper, const struct file_request *request,
		     struct file *ret_file);
int __wrap_file_read(struct file_helper *helper, const struct file_request *request,
		     struct file *ret_file)
{
	const char *text = NULL;

	(void)helper;
	if (!strcmp(request->path, "/etc/passwd"))
		text = "alice:x:1000:1000::/home/alice:/bin/sh\n";
	else if (has_state && !strncmp(request->path, "/home/alice/.local/share/docker/", 32))
		text = "{\"Name\":\"/web\"}";
	if (!text)
		return -ENOENT;
	*ret_file = (struct file){ .bytes = strdup(text), .size = strlen(text), .owner = 1000 };
	return 0;
}

static struct group_key user_key(uint64_t number)
{
	struct group_key key = { GROUP_USER_CONTAINER, "user-1000" };
	char id[GROUP_ID_LENGTH + 1];

	snprintf(id, sizeof(id), "%064ju", (uintmax_t)number);
	memcpy(key.text + GROUP_USER_SIZE, id, GROUP_ID_LENGTH);
	return key;
}

static void discover_of_user(struct fixture *f, uint64_t number)
{
	const struct group_id id = { .number = number };
	struct service_group group = {
		.key = user_key(number),
		.is_pending = true,
	};

	CHECK_INT(maps_put("service_groups", &id, &group), true);
	add_cgroup(f);
}

static void check_of_user(const char *conf, bool state, uint32_t want_kind, uint32_t want_rule,
			  uint32_t want_scans)
{
	struct fixture f;

	CASE("a user's container %s state, %s", state ? "with" : "without", conf);
	has_state = state;
	start(&f, conf);
	discover_of_user(&f, 7);
	resolver_run(&f.services.resolver, 1);
	CHECK_UINT(group_of(7).key.kind, state_is_readable() ? want_kind : GROUP_USER);
	CHECK_TEXT(group_of(7).key.text, "user-1000");
	CHECK_INT(group_of(7).key.text[GROUP_USER_SIZE] == '0',
		  group_of(7).key.kind == GROUP_USER_CONTAINER);
	CHECK_UINT(group_of(7).named_rule, want_rule);
	CHECK_UINT(group_of(7).is_pending, false);
	CHECK_UINT(scans, want_scans);
	fixture_done(&f);
}

static void test_user_containers(void)
{
	if (!state_is_readable())
		return;
	check_of_user(USERS_CONF, true, GROUP_USER_CONTAINER, 0, 1);
	check_of_user(USERS_CONF, false, GROUP_USER, 0, 0);
	check_of_user(USERS_CONF WEB_BLOCK, true, GROUP_USER_CONTAINER, SERVICE_FIRST + 1, 1);
	check_of_user(USERS_CONF WEB_BLOCK, false, GROUP_USER, 0, 0);
	check_of_user(USERS_CONF ALICE_BLOCK, true, GROUP_USER_CONTAINER, SERVICE_FIRST, 1);
	check_of_user(USERS_CONF ALICE_BLOCK, false, GROUP_USER, SERVICE_FIRST, 1);
	check_of_user(USERS_CONF ALICE_BLOCK WEB_BLOCK, true, GROUP_USER_CONTAINER, SERVICE_FIRST,
		      1);
	check_of_user(USERS_CONF WEB_BLOCK ALICE_BLOCK, true, GROUP_USER_CONTAINER,
		      SERVICE_FIRST + 1, 1);
	CASE("containers are no services, but a block has one");
	check_of_user("ServicesFrom \"units\"\n" WEB_BLOCK, true, GROUP_USER_CONTAINER,
		      SERVICE_FIRST + 1, 1);
	check_of_user("ServicesFrom \"units\"\n" ALICE_BLOCK
		      "<Service \"c\">\nContainer \"user-bob:*\"\n</Service>\n",
		      true, GROUP_USER_CONTAINER, SERVICE_FIRST, 1);
}

/* The containers of one user have a quarter of MaxServices. */
static void test_limit(void)
{
	struct service rows[SERVICE_FIRST + 8] = { 0 };
	unsigned confirmed = 0;
	struct fixture f;

	if (!state_is_readable())
		return;
	CASE("more containers than one user may have");
	has_state = true;
	start(&f, USERS_CONF);
	rows_of(&f.services, rows, COUNT_OF(rows));
	for (uint64_t i = 1; i <= 5; i++)
		discover_of_user(&f, i);
	resolver_run(&f.services.resolver, 1);
	for (uint64_t i = 1; i <= 5; i++)
		if (!group_of(i).is_pending)
			rows[SERVICE_FIRST + confirmed++] =
				(struct service){ .key = user_key(i), .flags = SERVICE_USED };
	CHECK_UINT(confirmed, 2);
	CHECK_UINT(scans, 1);
	CASE("the others are the user's when these have their rows");
	for (int i = 0; i < 5; i++)
		resolver_run(&f.services.resolver, 1);
	confirmed = 0;
	for (uint64_t i = 1; i <= 5; i++) {
		confirmed += group_of(i).key.kind == GROUP_USER_CONTAINER;
		CHECK_UINT(group_of(i).is_pending, false);
	}
	CHECK_UINT(confirmed, 2);
	CHECK_HAS(daemon_messages() ? daemon_message(daemon_messages() - 1) : "",
		  "user-1000: more than 2 containers of one user");
	fixture_done(&f);
}

/* No cgroup is inspected if the kernel can apply all rules. */
static void test_needless(void)
{
	static const char *const configs[] = {
		"ServicesFrom \"units\" \"commands\"",
		"ServicesFrom \"units\"\n<Service \"a\">\nUnit \"nginx.service\"\nCgroup \"x\"\n</Service>",
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
	test_user_containers();
	test_limit();
	test_needless();
	daemon_clear();
	return testing_end();
}
