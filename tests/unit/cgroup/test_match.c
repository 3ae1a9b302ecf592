/* SPDX-License-Identifier: MIT */
/*
 * plugin/cgroup/match.c: cgroups that Unit and Container select.
 */
#include "tests/unit/testing.h"

#include "bpf/lib/services/service.h"
#include "plugin/cgroup/match.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static bool matches(const char *option, enum group_kind kind, const char *text,
		    const char *full_name, const char *name)
{
	char *options[] = { (char *)option };
	struct service_config service = { 0 };
	struct group_description d = { 0 };
	struct group_key key = { .kind = kind };
	bool is_unit = kind == GROUP_UNIT || kind == GROUP_USER;

	*(is_unit ? &service.units : &service.containers) =
		(struct strings){ .item = options, .count = 1 };
	memcpy(key.text, text, strlen(text));
	snprintf(d.full_name, sizeof(d.full_name), "%s", full_name);
	snprintf(d.name, sizeof(d.name), "%s", name);
	CASE("%s: %s, %s", option, text, name);
	return group_matches(&service, &key, &d);
}

static void check_unit(const char *option, const char *text, bool want)
{
	CHECK_INT(matches(option, GROUP_UNIT, text, text, text), want);
}

static void test_units(void)
{
	check_unit("nginx.service", "nginx", true);
	check_unit("nginx", "nginx", true);
	check_unit("nginx.socket", "nginx", true);
	check_unit("nginx", "nginx2", false);
	check_unit("php-fpm@*.service", "php-fpm@8.2", true);
	check_unit("php-fpm@*", "php-fpm", false);
	check_unit("*.service", "anything", true);
	check_unit("service", "service", true);
	check_unit("systemd-coredump@0-4711-2.service", "systemd-coredump", true);
	check_unit("run-u7.service", "run", true);
	check_unit("run-billing.service", "run", false);
	check_unit("run-billing.service", "run-billing", true);
	check_unit("io.service", "io", true);
	check_unit("_io.service", "io", true);
	check_unit("_io.service", "_io", true);
	check_unit("__io.service", "_io", true);
	check_unit("__io.service", "io", false);
	check_unit("_*.service", "io", false);
	check_unit("_io.service", "_io2", false);
	CHECK_INT(matches("my-app", GROUP_UNIT, "my\\x2dapp", "my-app", "my-app"), true);
	CHECK_INT(matches("my\\x2dapp.service", GROUP_UNIT, "my\\x2dapp", "my-app", "my-app"),
		  true);
	CHECK_INT(matches("myx2dapp.service", GROUP_UNIT, "my\\x2dapp", "my-app", "my-app"), true);
	CHECK_INT(matches("my-*", GROUP_UNIT, "my\\x2dapp", "my-app", "my-app"), true);
	CHECK_INT(matches("foo@a-*", GROUP_UNIT, "foo@a\\x2db", "foo@a-b", "foo@a-b"), true);
	CHECK_INT(matches("foo@a_b", GROUP_UNIT, "foo@a\\x2fb", "foo@a/b", "foo@a_b"), true);
	CHECK_INT(matches("foo@a.b", GROUP_UNIT, "foo@a\\x2fb", "foo@a/b", "foo@a_b"), false);
	CHECK_INT(matches("my-app", GROUP_UNIT, "my-app", "my-app", "my-app"), true);
	CHECK_INT(matches("my\\x2dapp", GROUP_UNIT, "my-app", "my-app", "my-app"), false);
	CHECK_INT(matches("my\\x2d*.service", GROUP_UNIT, "my\\x2dapp", "my-app", "my-app"), true);
	CHECK_INT(matches("user-1000.slice", GROUP_USER, "user-1000", "user-alice", "user-alice"),
		  true);
	CHECK_INT(matches("user-alice", GROUP_USER, "user-1000", "user-alice", "user-alice"), true);
	CHECK_INT(matches("user-*", GROUP_USER, "user-1000", "user-1000", "user-1000"), true);
	CHECK_INT(matches("user-bob", GROUP_USER, "user-1000", "user-alice", "user-alice"), false);
	CHECK_INT(matches("*", GROUP_COMMAND, "nginx", "nginx", "nginx"), false);
}

static void test_containers(void)
{
	CHECK_INT(matches("web-*", GROUP_DOCKER, ID, "web-1", "web-1"), true);
	CHECK_INT(matches("web", GROUP_DOCKER, ID, "web-1", "web-1"), false);
	CHECK_INT(matches(ID, GROUP_DOCKER, ID, "web", "web"), true);
	CHECK_INT(matches(ID, GROUP_PODMAN, ID, "web", "web"), true);
	CHECK_INT(matches("0123456789ab", GROUP_DOCKER, ID, "web", "web"), true);
	CHECK_INT(matches("0123456789abcdef012", GROUP_DOCKER, ID, "web", "web"), true);
	CHECK_INT(matches("0123456789a", GROUP_DOCKER, ID, "web", "web"), false);
	CHECK_INT(matches("0123456789abcX", GROUP_DOCKER, ID, "web", "web"), false);
	CHECK_INT(matches("0123456789ac", GROUP_DOCKER, ID, "web", "web"), false);
	CHECK_INT(matches("shop_web_*", GROUP_CRIO, ID, "shop_web-x2x4z_app", "shop_web_app"),
		  true);
	CHECK_INT(matches("shop_web-*_app", GROUP_CRIO, ID, "shop_web-x2x4z_app", "shop_web_app"),
		  true);
	CHECK_INT(matches("web", GROUP_LXC, "web", "web", "web"), true);
	CHECK_INT(matches("my-box", GROUP_MACHINE, "my\\x2dbox", "my-box", "my-box"), true);
	CHECK_INT(matches("my\\x2dbox", GROUP_MACHINE, "my\\x2dbox", "my-box", "my-box"), true);
	CHECK_INT(matches("myx2d*", GROUP_MACHINE, "my\\x2dbox", "my-box", "my-box"), true);
	CHECK_INT(matches("my-*", GROUP_MACHINE, "my\\x2dbox", "my-box", "my-box"), true);
	CHECK_INT(matches("my_box", GROUP_MACHINE, "my\\x2dbox", "my-box", "my-box"), false);
	CHECK_INT(matches("0*", GROUP_DOCKER, ID, "web", "web"), false);
	CHECK_INT(matches("web.service", GROUP_LXC, "web", "web", "web"), false);
}

static bool matches_of_user(const char *option, const char *full_name, const char *name)
{
	struct group_description d = { 0 };
	struct group_key key = { GROUP_USER_CONTAINER, "user-1000" };

	memcpy(key.text + GROUP_USER_SIZE, ID, GROUP_ID_LENGTH);
	snprintf(d.full_name, sizeof(d.full_name), "%s", full_name);
	snprintf(d.name, sizeof(d.name), "%s", name);
	CASE("%s: %s", option, full_name);
	return group_option_fits(option, &key, &d);
}

/* An option fits a user's container only if it was written for one. */
static void test_user_containers(void)
{
	static const char *const fit[] = {
		"user-alice:web-1", "user-1000:web-1",      "user-*:web-1",
		"user-alice:web-*", "user-alice:*",         "user-alice:0123456789ab",
		"user-1000:" ID,    "user-alice:we[a-z]-1",
	};
	static const char *const unfit[] = {
		"web-1",
		"*",
		"web*",
		"*web-1",
		ID,
		"0123456789ab",
		"user-alice",
		"user-*",
		"user-alice?web-1",
		"user-alice[:]web-1",
		"user-bob:web-1",
		"alice:web-1",
		":web-1",
		"user-alice:",
		"user-alice:0123456789a",
		"user-alice_web-1",
	};

	for (size_t i = 0; i < COUNT_OF(fit); i++)
		CHECK_INT(matches_of_user(fit[i], "user-alice:web-1", "user-alice:web-1"), true);
	for (size_t i = 0; i < COUNT_OF(unfit); i++)
		CHECK_INT(matches_of_user(unfit[i], "user-alice:web-1", "user-alice:web-1"), false);
	CASE("one that is not confirmed");
	CHECK_INT(matches_of_user("user-alice:*", "user-alice", "user-alice"), false);
	CHECK_INT(matches_of_user("user-alice", "user-alice", "user-alice"), false);
}

static void check_key(const char *option, enum group_kind kind, const char *want)
{
	struct group_key key = { 0 };
	bool has = group_rule_key(option, kind, &key);

	CASE("key of %s, kind %d", option, kind);
	CHECK_INT(has, want != NULL);
	if (has && want) {
		CHECK_UINT(key.kind, kind);
		CHECK_TEXT(key.text, want);
	}
}

static void test_keys(void)
{
	check_key("nginx", GROUP_UNIT, "nginx");
	check_key("nginx.service", GROUP_UNIT, "nginx");
	check_key("init.scope", GROUP_UNIT, "init");
	check_key("postgresql@15-main.service", GROUP_UNIT, "postgresql@15-main");
	check_key("containerd.service", GROUP_UNIT, "containerd");
	check_key("io.service", GROUP_UNIT, "io");
	check_key("_io.service", GROUP_UNIT, "_io");
	check_key("my\\x2dapp.service", GROUP_UNIT, "my\\x2dapp");
	check_key("nginx*", GROUP_UNIT, NULL);
	check_key("system.slice/nginx.service", GROUP_UNIT, NULL);
	check_key("user-1000.slice", GROUP_UNIT, NULL);
	check_key("nginx", GROUP_USER, NULL);
	check_key("user-1000", GROUP_USER, "user-1000");
	check_key("user-1000.slice", GROUP_USER, "user-1000");
	check_key("user-alice", GROUP_USER, NULL);
	check_key("nginx", GROUP_COMMAND, NULL);
	check_key(ID, GROUP_CONTAINER, ID);
	check_key(ID, GROUP_DOCKER, ID);
	check_key(ID, GROUP_PODMAN, ID);
	check_key(ID, GROUP_CRIO, ID);
	check_key(ID, GROUP_CONTAINERD, ID);
	check_key("0123456789ab", GROUP_DOCKER, NULL);
	check_key("web", GROUP_DOCKER, NULL);
	check_key("web", GROUP_CONTAINERD, "web");
	check_key("web", GROUP_LXC, "web");
	check_key("web", GROUP_MACHINE, "web");
	check_key("my-box", GROUP_MACHINE, NULL);
	check_key("my-box", GROUP_LXC, "my-box");
	check_key("web-[12]", GROUP_LXC, NULL);
	check_key(ID, GROUP_USER_CONTAINER, NULL);
}

/* A unit whose name is too long for its key is compared in the form that the kernel shortens it
 * to. */
static void test_long(void)
{
	struct group_key key, other;
	char option[300];

	CASE("a long name");
	memset(option, 'x', 200);
	strcpy(option + 200, ".service");
	CHECK_INT(group_rule_key(option, GROUP_UNIT, &key), true);
	CHECK_INT(matches(option, GROUP_UNIT, key.text, "x", "x"), true);
	option[199] = 'y';
	CHECK_INT(group_rule_key(option, GROUP_UNIT, &other), true);
	CHECK_INT(strcmp(key.text, other.text) != 0, true);
	CHECK_INT(matches(option, GROUP_UNIT, key.text, "x", "x"), false);
	CASE("one that no cgroup has");
	memset(option, 'x', 290);
	option[290] = '\0';
	CHECK_INT(group_rule_key(option, GROUP_UNIT, &key), false);
	option[250] = '\0';
	CHECK_INT(group_rule_key(option, GROUP_LXC, &key), false);
}

static void check_needs(const char *unit, const char *container, unsigned want)
{
	char *units[] = { (char *)unit }, *containers[] = { (char *)container };
	struct service_config services[] = {
		{ .name = "none" },
		{
			.units = { .item = units, .count = unit ? 1 : 0 },
			.containers = { .item = containers, .count = container ? 1 : 0 },
		},
	};
	struct config config = { .services = services, .service_count = 2 };

	CASE("needs names: %s, %s", unit ?: "no unit", container ?: "no container");
	CHECK_UINT(groups_need_names(&config), want);
}

static void test_needs_names(void)
{
	check_needs(NULL, NULL, 0);
	check_needs("nginx.service", NULL, 0);
	check_needs("nginx*", NULL, SERVICES_FROM_UNITS);
	check_needs("user-alice", NULL, SERVICES_FROM_UNITS);
	check_needs("my-app.service", NULL, SERVICES_FROM_UNITS);
	check_needs("my_app.service", NULL, SERVICES_FROM_UNITS);
	check_needs("myx2dapp.service", NULL, SERVICES_FROM_UNITS);
	check_needs("foo@a.b:c.service", NULL, 0);
	check_needs("xen.service", NULL, 0);
	check_needs(NULL, "web", SERVICES_FROM_CONTAINERS);
	check_needs("nginx.service", ID, SERVICES_FROM_CONTAINERS);
	check_needs("nginx*", "web", SERVICES_FROM_UNITS | SERVICES_FROM_CONTAINERS);
}

int main(void)
{
	test_units();
	test_containers();
	test_user_containers();
	test_keys();
	test_long();
	test_needs_names();
	return testing_end();
}
