/* SPDX-License-Identifier: MIT */
/*
 * Names of subjects, and numbers that are reused.
 */
#include "tests/unit/testing.h"

#include "plugin/service/subject.h"
#include "plugin/util/clock.h"

#define S(seconds) ((uint64_t)(seconds)*NS_PER_S)
#define X16 "0123456789abcdef"
#define X112 X16 X16 X16 X16 X16 X16 X16
#define X118 X112 "012345"
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
	CHECK_TEXT(entered(&s, SUBJECT_COMMAND, "web"), "web+48721ef2");
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
		{ "self", "self+d40792b8" },
		{ "self_", "self_" },
		{ "web", "web+48721ef2" },
		{ "web ", "web_" },
		{ "web_", "web_" },
		{ "db", "db+b53ba1e4" },
		{ "db_", "db_" },
		{ "db__", "db__+2a6e1f12" },
		{ "my app", "my_app+23dfc299" },
		{ "my.app", "my.app+81408c63" },
		{ "my_app", "my_app+99a8cdd8" },
		{ "my-app", "my-app" },
		{ "late", "late" },
		{ "late_", "late_+383497bb" },
		{ "", "_+84222326" },
		{ ".", "_+86018bb2" },
		{ "_", "_+8602484f" },
		{ "disk", "disk" },
		{ "disk-0", "disk-0+6342f4e2" },
		{ "disk-17", "disk-17+aac3137c" },
		{ "disk-17_", "disk-17_" },
		{ "disk-", "disk-" },
		{ "disk-x", "disk-x" },
		{ "disk-1-2", "disk-1-2" },
		{ "net", "net+2571b219" },
		{ "net-1", "net-1" },
		{ "Web", "Web" },
		{ "web1", "web1" },
		{ "web-7557-204877", "web-7557-204877+787609fc" },
		{ "web-7557", "web-7557" },
		{ "web-7557-2-3", "web-7557-2-3" },
		{ "web-1-2", "web-1-2+76777b0d" },
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
	CHECK_TEXT(entered(&s, SUBJECT_PROCESS, "web-1-2"), "web-1-2+76777b0d");
	CHECK_TEXT(entered(&s, SUBJECT_PROCESS, "disk-1"), "disk-1+6342f32f");
	CHECK_TEXT(entered(&s, SUBJECT_PROCESS, "web-7557-204877"), "web-7557-204877");
	CASE("a service does not");
	CHECK_TEXT(entered(&s, SUBJECT_SERVICE, "disk-1"), "disk-1");
	CASE("a long name");
	CHECK_INT(subjects_reserve(&s, SUBJECT_SERVICE, X127, 0), 0);
	CHECK_TEXT(entered(&s, SUBJECT_COMMAND, X127), X118 "+32878fe2");
	CHECK_TEXT(entered(&s, SUBJECT_COMMAND, X127 "cut"), X118 "+c64e1d27");
	subjects_done(&s);
}

/* Two that a receiver would take for one. */
static void test_alike(void)
{
	static const struct {
		enum subject_kind kinds[2];
		const char *texts[2], *names[2], *message;
	} cases[] = {
		{ { SUBJECT_SERVICE, SUBJECT_SERVICE },
		  { "web.1", "web_1" },
		  { "web.1", "web_1+08d71a62" },
		  "series of the service \"web_1\" are called \"web_1+08d71a62\", as the service "
		  "\"web.1\" has its name already; rename one of them to choose another" },
		{ { SUBJECT_COMMAND, SUBJECT_COMMAND },
		  { "a_b", "a;b" },
		  { "a_b", "a_b+04a28e96" },
		  "series of the command \"a;b\" are called \"a_b+04a28e96\", as the command \"a_b\"" },
		{ { SUBJECT_COMMAND, SUBJECT_COMMAND },
		  { "redis", "redis\xe2\x80\x8b" },
		  { "redis", "redis_" },
		  NULL },
		{ { SUBJECT_COMMAND, SUBJECT_COMMAND },
		  { "redis_", "redis\xe2\x80\x8b" },
		  { "redis_", "redis_+39a71718" },
		  "series of the command \"redis\\xe2\\x80\\x8b\" are called" },
		{ { SUBJECT_UNIT, SUBJECT_UNIT },
		  { "foo;bar", "foo_bar" },
		  { "foo_bar", "foo_bar" },
		  NULL },
		{ { SUBJECT_UNIT, SUBJECT_UNIT },
		  { "foo_bar", "foo;bar" },
		  { "foo_bar", "foo_bar+a87f0ec2" },
		  "series of the unit \"foo;bar\" are called" },
		{ { SUBJECT_UNIT, SUBJECT_CONTAINER },
		  { "web.1", "web_1" },
		  { "web.1", "web_1+08d71a62" },
		  "as the unit \"web.1\"" },
		{ { SUBJECT_CONTAINER, SUBJECT_UNIT },
		  { "web.1", "web_1" },
		  { "web.1", "web_1" },
		  NULL },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct error error = { "" };
		struct subjects s = { 0 };

		CASE("\"%s\" and \"%s\"", cases[i].texts[0], cases[i].texts[1]);
		for (size_t k = 0; k < 2; k++)
			CHECK_TEXT(entered(&s, cases[i].kinds[k], cases[i].texts[k]),
				   cases[i].names[k]);
		CHECK_INT(subjects_claim_clash(&s, S(1), &error), cases[i].message != NULL);
		CHECK_HAS(error.text, cases[i].message ?: "");
		subjects_done(&s);
	}
}

/* A name that was told apart stays so, and an earlier kind gets the name. */
static void test_again(void)
{
	struct subjects s = { 0 };
	int first, second;

	CASE("the one that had the name ends");
	first = subjects_enter(&s, SUBJECT_COMMAND, "a_b");
	second = subjects_enter(&s, SUBJECT_COMMAND, "a b");
	subjects_release(&s, (size_t)first);
	CHECK_INT(subjects_enter(&s, SUBJECT_COMMAND, "a b"), second);
	CHECK_TEXT(s.subject[second].name, "a_b+04833893");
	CASE("a command has the name of a unit's second choice");
	CHECK_TEXT(entered(&s, SUBJECT_UNIT, "u v"), "u_v");
	CHECK_TEXT(entered(&s, SUBJECT_COMMAND, "u_v+3e9b6d66"), "u_v+3e9b6d66");
	CHECK_TEXT(entered(&s, SUBJECT_UNIT, "u;v"), "u_v+3e9b6d66");
	CHECK_INT(subjects_find(&s, SUBJECT_COMMAND, "u_v+3e9b6d66"), -1);
	CHECK_TEXT(entered(&s, SUBJECT_COMMAND, "u_v+3e9b6d66"), "u_v+3e9b6d66+b93a9318");
	CHECK_TEXT(entered(&s, SUBJECT_COMMAND, "u_v+3e9b6d66"), "u_v+3e9b6d66+b93a9318");
	CASE("a name that receivers have unchanged");
	first = subjects_enter(&s, SUBJECT_UNIT, "x.y");
	second = subjects_enter(&s, SUBJECT_UNIT, "x_y");
	CHECK_TEXT(s.subject[second].name, "x_y");
	CHECK_INT(subjects_find(&s, SUBJECT_UNIT, "x.y"), -1);
	CHECK_TEXT(entered(&s, SUBJECT_UNIT, "x.y"), "x.y+7f3152d7");
	subjects_done(&s);
}

/* Whoever makes names makes one message an hour. */
static void test_messages(void)
{
	struct error error = { "" };
	struct subjects s = { 0 };

	CASE("messages");
	entered(&s, SUBJECT_COMMAND, "a_b");
	entered(&s, SUBJECT_UNIT, "u_v");
	CHECK_INT(subjects_claim_clash(&s, S(1), &error), false);
	entered(&s, SUBJECT_COMMAND, "a b");
	entered(&s, SUBJECT_COMMAND, "a;b");
	CHECK_INT(subjects_claim_clash(&s, S(2), &error), true);
	CHECK_HAS(error.text, "\"a b\"");
	entered(&s, SUBJECT_COMMAND, "a\nb");
	entered(&s, SUBJECT_UNIT, "u.v");
	CHECK_INT(subjects_claim_clash(&s, S(3), &error), true);
	CHECK_HAS(error.text, "unit \"u.v\"");
	CHECK_INT(subjects_claim_clash(&s, S(3601), &error), false);
	CHECK_INT(subjects_claim_clash(&s, S(3603), &error), true);
	CHECK_HAS(error.text, "\"a\\x0ab\"");
	CHECK_INT(subjects_claim_clash(&s, S(9999), &error), false);
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
	CHECK_INT(subjects_enter(&s, SUBJECT_COMMAND, "name 4321"), 4321);
	CHECK_TEXT(s.subject[17].name, "name_17");
	subjects_done(&s);
}

int main(void)
{
	test_numbers();
	test_kinds();
	test_reserved();
	test_alike();
	test_again();
	test_messages();
	test_many();
	return testing_end();
}
