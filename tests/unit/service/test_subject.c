/* SPDX-License-Identifier: MIT */
/*
 * Names of subjects, and numbers that are reused.
 */
#include "tests/unit/testing.h"

#include "plugin/service/subject.h"

#include <errno.h>

#define X16 "0123456789abcdef"
#define X112 X16 X16 X16 X16 X16 X16 X16
#define X127 X112 "0123456789abcde"

static void test_numbers(void)
{
	struct subjects s = { 0 };
	uint64_t first;
	int web, db, cache;

	CASE("three names");
	web = subjects_enter(&s, SUBJECT_COMMAND, "web");
	db = subjects_enter(&s, SUBJECT_COMMAND, "db");
	cache = subjects_enter(&s, SUBJECT_COMMAND, "cache");
	CHECK_INT(web == db || db == cache || web == cache, 0);
	CHECK_TEXT(s.subject[db].name, "db");
	first = s.subject[db].generation;
	CHECK_INT(first != s.subject[web].generation, 1);

	CASE("the same name again, as it is after cleaning");
	CHECK_INT(subjects_enter(&s, SUBJECT_COMMAND, "db"), db);
	CHECK_UINT(s.subject[db].rows, 2);
	CHECK_UINT(s.subject[db].generation, first);

	CASE("one row less");
	subjects_release(&s, (size_t)db);
	CHECK_INT(s.subject[db].used, true);

	CASE("no row is left, another subject gets the number");
	subjects_release(&s, (size_t)db);
	CHECK_INT(s.subject[db].used, false);
	subjects_release(&s, (size_t)db);
	CHECK_UINT(s.subject[db].rows, 0);
	s.subject[db].top_n = 5;
	CHECK_INT(subjects_enter(&s, SUBJECT_COMMAND, "mail"), db);
	CHECK_TEXT(s.subject[db].name, "mail");
	CHECK_INT(s.subject[db].generation > first, 1);
	CHECK_UINT(s.subject[db].rows, 1);
	CHECK_UINT(s.subject[db].top_n, 0);
	CHECK_UINT(s.count, 3);

	CASE("the old name comes back elsewhere");
	CHECK_INT(subjects_enter(&s, SUBJECT_COMMAND, "db"), 3);
	CHECK_UINT(s.count, 4);

	CASE("a name that left comes back as another subject");
	first = s.subject[3].generation;
	subjects_release(&s, 3);
	CHECK_INT(subjects_enter(&s, SUBJECT_COMMAND, "db"), 3);
	CHECK_INT(s.subject[3].generation > first, 1);

	CASE("done twice");
	subjects_done(&s);
	subjects_done(&s);
	CHECK_UINT(s.count, 0);
}

/* The name that a subject gets. */
static const char *entered(struct subjects *s, enum subject_kind kind, const char *name)
{
	int subject = subjects_enter(s, kind, name);

	return subject < 0 ? strerror(-subject) : s->subject[subject].name;
}

/* A name in several kinds is several subjects. */
static void test_kinds(void)
{
	struct subjects s = { 0 };
	int service, command;

	CASE("kinds");
	command = subjects_enter(&s, SUBJECT_COMMAND, "web");
	service = subjects_enter(&s, SUBJECT_SERVICE, "web");
	CHECK_INT(service == command, 0);
	CHECK_INT(subjects_enter(&s, SUBJECT_SERVICE, "web"), service);
	CHECK_TEXT(entered(&s, SUBJECT_COMMAND, "web"), "web_");
	subjects_done(&s);
}

/* The name of a process is never one that is reserved for another kind. */
static void test_reserved(void)
{
	static const struct {
		enum subject_kind kind;
		const char *name;
		unsigned numbers;
	} reserved[] = {
		{ SUBJECT_NONE, "self", 0 },       { SUBJECT_SERVICE, "web", 0 },
		{ SUBJECT_SERVICE, "db", 0 },      { SUBJECT_SERVICE, "db__", 0 },
		{ SUBJECT_SERVICE, "my_app", 0 },  { SUBJECT_SERVICE, "late_", 0 },
		{ SUBJECT_SERVICE, "_", 0 },       { SUBJECT_PROBE, "disk", 1 },
		{ SUBJECT_PROBE, "net", 0 },       { SUBJECT_PROCESS, "web", 2 },
		{ SUBJECT_SERVICE, "web-1-2", 0 },
	};
	static const struct {
		const char *name, *want;
	} cases[] = {
		{ "nginx", "nginx" },
		{ "self", "self_" },
		{ "self_", "self__" },
		{ "web", "web_" },
		{ "web ", "web__" },
		{ "web_", "web__" },
		{ "web/", "web__" },
		{ "web\xff", "web__" },
		{ "web.", "web._" },
		{ "web__", "web___" },
		{ "we b", "we_b" },
		{ "Web", "Web" },
		{ "web1", "web1" },
		{ "my app", "my_app_" },
		{ "my.app", "my.app_" },
		{ "my-app", "my-app" },
		{ "db", "db___" },
		{ "db_", "db____" },
		{ "db__", "db_____" },
		{ "late", "late" },
		{ "late_", "late___" },
		{ "", "___" },
		{ ".", "___" },
		{ "disk", "disk" },
		{ "disk-0", "disk-0_" },
		{ "disk-17", "disk-17_" },
		{ "disk-17_", "disk-17__" },
		{ "disk-", "disk-" },
		{ "disk-x", "disk-x" },
		{ "disk-1-2", "disk-1-2" },
		{ "net", "net_" },
		{ "net-1", "net-1" },
		{ "web-7557-204877", "web-7557-204877_" },
		{ "web-7557", "web-7557" },
		{ "web-7557-", "web-7557-" },
		{ "web-7557-2-3", "web-7557-2-3" },
		{ "web-1-2", "web-1-2_" },
		{ "web--1-2", "web--1-2" },
	};
	struct subjects s = { 0 };

	for (size_t i = 0; i < COUNT_OF(reserved); i++)
		subjects_reserve(&s, reserved[i].kind, reserved[i].name, reserved[i].numbers);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("a command called \"%s\"", cases[i].name);
		CHECK_TEXT(entered(&s, SUBJECT_COMMAND, cases[i].name), cases[i].want);
	}
	CASE("a process gives way to services and probes");
	CHECK_INT(subjects_enter(&s, SUBJECT_PROCESS, "web-1-2"), -EEXIST);
	CHECK_INT(subjects_enter(&s, SUBJECT_PROCESS, "disk-1"), -EEXIST);
	CHECK_TEXT(entered(&s, SUBJECT_PROCESS, "web-7557-204877"), "web-7557-204877");
	CASE("a service does not");
	CHECK_TEXT(entered(&s, SUBJECT_SERVICE, "disk-1"), "disk-1");
	CASE("no room for underscores");
	CHECK_INT(subjects_reserve(&s, SUBJECT_SERVICE, X127, 0), 0);
	CHECK_INT(subjects_enter(&s, SUBJECT_COMMAND, X127), -EEXIST);
	CHECK_INT(subjects_enter(&s, SUBJECT_COMMAND, X127 "cut"), -EEXIST);
	subjects_done(&s);
}

static void test_many(void)
{
	struct subjects s = { 0 };
	char name[32];

	CASE("many");
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		if (subjects_enter(&s, SUBJECT_COMMAND, name) != i)
			CHECK_INT(i, -1);
	}
	CHECK_INT(subjects_enter(&s, SUBJECT_COMMAND, "name_4321"), 4321);
	CHECK_TEXT(s.subject[17].name, "name_17");
	subjects_done(&s);
}

int main(void)
{
	test_numbers();
	test_kinds();
	test_reserved();
	test_many();
	return testing_end();
}
