/* SPDX-License-Identifier: MIT */
/*
 * plugin/config/unit.c: names of units in the configuration.
 */
#include "tests/unit/testing.h"

#include "plugin/config/unit.h"

static void check_base(const char *name, const char *want)
{
	char base[300];

	CASE("%s", name);
	snprintf(base, sizeof(base), "%.*s", (int)unit_base_length(name), name);
	CHECK_TEXT(base, want);
}

static void test_base(void)
{
	check_base("nginx.service", "nginx");
	check_base("nginx", "nginx");
	check_base("init.scope", "init");
	check_base("ssh.socket", "ssh");
	check_base("mnt-data.mount", "mnt-data");
	check_base("dev-sda2.swap", "dev-sda2");
	check_base("user-1000.slice", "user-1000");
	check_base("apt.timer", "apt.timer");
	check_base("a.b", "a.b");
	check_base(".service", ".service");
	check_base("", "");
}

static void check_usable(const char *name, const char *want)
{
	char why[256] = "";
	bool usable = unit_is_usable(name, why, sizeof(why));

	CASE("%.40s", name);
	CHECK_INT(usable, want == NULL);
	CHECK_HAS(why, want ? want : "");
}

static void test_usable(void)
{
	char name[UNIT_NAME_MAX + 1] = "";

	check_usable("nginx.service", NULL);
	check_usable("php-fpm@*.service", NULL);
	check_usable("user-1000.slice", NULL);
	check_usable("user-*.slice", NULL);
	check_usable("/system.slice/nginx.service", "for a path use Cgroup");
	check_usable("system.slice", "for another use Cgroup");
	check_usable("apt-daily.timer", "units of type timer have no processes");
	check_usable("multi-user.target", "units of type target have no processes");
	check_usable("systemd-nspawn@web.service", "which Container takes");
	check_usable("systemd-nspawn@*", "which Container takes");
	check_usable("machine-qemu\\x2d1\\x2dweb.scope", "which Container takes");
	check_usable(
		"docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope",
		"which Container takes");
	check_usable("docker-registry.scope", NULL);
	check_usable("docker.service", NULL);
	check_usable("*", NULL);
	memset(name, 'x', UNIT_NAME_MAX - 1);
	check_usable(name, NULL);
	memset(name, 'x', UNIT_NAME_MAX);
	check_usable(name, "more than 255 bytes");
}

static void test_covers(void)
{
	static const struct {
		const char *rule, *later;
		bool covers;
	} cases[] = {
		{ "nginx.service", "nginx", true },
		{ "nginx", "nginx.service", true },
		{ "nginx", "nginx2", false },
		{ "nginx*", "nginx2.service", true },
		{ "nginx2", "nginx*", false },
		{ "php*", "php-fpm@*", false },
		{ "php-fpm@*.service", "php-fpm@*", true },
		{ "*", "user-1000.slice", true },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("%s covers %s", cases[i].rule, cases[i].later);
		CHECK_INT(unit_covers(cases[i].rule, cases[i].later), cases[i].covers);
	}
}

int main(void)
{
	test_base();
	test_usable();
	test_covers();
	return testing_end();
}
