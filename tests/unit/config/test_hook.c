/* SPDX-License-Identifier: MIT */
/*
 * The text of a hook.
 */
#include "tests/unit/testing.h"

#include "plugin/config/hook.h"

#include <linux/perf_event.h>

static const char *text_or(const char *text)
{
	return text ? text : "-";
}

static void test_good(void)
{
	static const struct {
		const char *text,
			*want; /* service path category name offset type config period frequency */
	} cases[] = {
		{ "uprobe:/usr/bin/x:main", "- /usr/bin/x - main 0 0 0 0 0" },
		{ "uprobe:/a:b:main+0x10", "- /a:b - main 16 0 0 0 0" },
		{ "uprobe:/x:0x1000", "- /x - - 4096 0 0 0 0" },
		{ "uretprobe:/x:_ZN3fooEv", "- /x - _ZN3fooEv 0 0 0 0 0" },
		{ "uprobe:/x:ns::work(int, char)", "- /x - ns::work(int, char) 0 0 0 0 0" },
		{ "uprobe:/a:b:ns::work+8", "- /a:b - ns::work 8 0 0 0 0" },
		{ "uprobe:/x:ns::operator+", "- /x - ns::operator+ 0 0 0 0 0" },
		{ "uprobe:/x:ns::operator+(A)+4", "- /x - ns::operator+(A) 4 0 0 0 0" },
		{ "uprobe:/x:<dyn A + B as C>::f", "- /x - <dyn A + B as C>::f 0 0 0 0 0" },
		{ "uprobe:/x:a.org/b.(*T).f", "- /x - a.org/b.(*T).f 0 0 0 0 0" },
		{ "uprobe:libc.so.6:malloc", "- libc.so.6 - malloc 0 0 0 0 0" },
		{ "usdt:python3:provider:name", "- python3 - provider:name 0 0 0 0 0" },
		{ "uprobe:service:web:main", "web - - main 0 0 0 0 0" },
		{ "uprobe:service:web:ns::f", "web - - ns::f 0 0 0 0 0" },
		{ "uprobe:service:my web:0x10", "my web - - - 16 0 0 0 0" },
		{ "uretprobe:service:web:/lib/x.so:f+2", "web /lib/x.so - f 2 0 0 0 0" },
		{ "usdt:service:web:provider:name", "web - - provider:name 0 0 0 0 0" },
		{ "usdt:service:web:/x:provider:name", "web /x - provider:name 0 0 0 0 0" },
		{ "fentry:vfs_read", "- - - vfs_read 0 0 0 0 0" },
		{ "usdt:/a:b:provider:name", "- /a:b - provider:name 0 0 0 0 0" },
		{ "kprobe:vfs_read+4", "- - - vfs_read 4 0 0 0 0" },
		{ "kretprobe:vfs_read", "- - - vfs_read 0 0 0 0 0" },
		{ "tracepoint:sched:sched_switch", "- - sched sched_switch 0 0 0 0 0" },
		{ "perf:cpu-clock:frequency=99", "- - - cpu-clock 0 1 0 0 99" },
		{ "perf:page-faults:period=100", "- - - page-faults 0 1 2 100 0" },
		{ "perf:cycles:period=18446744073709551615",
		  "- - - cycles 0 0 0 18446744073709551615 0" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char got[256], why[256] = "";
		struct hook p = { 0 };

		CASE("%s", cases[i].text);
		CHECK_INT(hook_parse(cases[i].text, &p, why, sizeof(why)), true);
		snprintf(got, sizeof(got), "%s %s %s %s %" PRIu64 " %u %" PRIu64 " %" PRIu64 " %u",
			 text_or(p.service), text_or(p.path), text_or(p.category), text_or(p.name),
			 p.offset, p.perf_type, p.perf_config, p.period, p.frequency);
		CHECK_TEXT(got, cases[i].want);
		CHECK_HAS(cases[i].text, hook_kind_name(p.kind));
		hook_done(&p);
		hook_done(&p);
	}
}

static void test_bad(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "",
		  "it takes uprobe:, uretprobe:, usdt:, kprobe:, kretprobe:, fentry:, tracepoint: "
		  "or perf:" },
		{ "uprobe", "it takes uprobe:, uretprobe:" },
		{ "uprobes:/x:y", "it takes uprobe:, uretprobe:" },
		{ "uprobe:", "after uprobe: it takes FILE:FUNCTION, FILE:FUNCTION+OFFSET or" },
		{ "uprobe:lib/x.so:main", "where FILE is an absolute path" },
		{ "uprobe::main", "where FILE is an absolute path" },
		{ "uprobe:/x", "after uprobe: it takes FILE:FUNCTION" },
		{ "uprobe:/x:", "after uprobe: it takes FILE:FUNCTION" },
		{ "uprobe:/x: f", "after uprobe: it takes FILE:FUNCTION" },
		{ "uprobe:/x:a\nb", "after uprobe: it takes FILE:FUNCTION" },
		{ "uprobe:/x::f", "after uprobe: it takes FILE:FUNCTION" },
		{ "uprobe:service:web", "after uprobe: it takes FILE:FUNCTION" },
		{ "uprobe:service:web:", "after uprobe: it takes FILE:FUNCTION" },
		{ "uprobe:service::f", "after uprobe: it takes FILE:FUNCTION" },
		{ "uprobe:service:web:/lib/x.so", "after uprobe: it takes FILE:FUNCTION" },
		{ "uprobe:service:web:lib/x.so:f", "after uprobe: it takes FILE:FUNCTION" },
		{ "usdt:service:web:name", "after usdt: it takes FILE:PROVIDER:NAME" },
		{ "usdt:service:web:x:provider:name", "after usdt: it takes FILE:PROVIDER:NAME" },
		{ "fentry:f+4", "after fentry: it takes FUNCTION" },
		{ "uprobe:/x:main+", "after uprobe: it takes FILE:FUNCTION" },
		{ "uprobe:/x:0xg", "after uprobe: it takes FILE:FUNCTION" },
		{ "uprobe:/x:99999999999999999999", "after uprobe: it takes FILE:FUNCTION" },
		{ "usdt:/x:y", "after usdt: it takes FILE:PROVIDER:NAME" },
		{ "usdt:/x:y:", "after usdt: it takes FILE:PROVIDER:NAME" },
		{ "usdt:/x::z", "after usdt: it takes FILE:PROVIDER:NAME" },
		{ "usdt:a/x:y:z",
		  "after usdt: it takes FILE:PROVIDER:NAME, where FILE is an absolute" },
		{ "usdt::y:z", "after usdt: it takes FILE:PROVIDER:NAME" },
		{ "kprobe:", "after kprobe: it takes FUNCTION or FUNCTION+OFFSET" },
		{ "kprobe:a b", "after kprobe: it takes FUNCTION" },
		{ "kretprobe:f+4", "after kretprobe: it takes FUNCTION" },
		{ "tracepoint:sched", "after tracepoint: it takes CATEGORY:NAME" },
		{ "tracepoint:../x:y", "after tracepoint: it takes CATEGORY:NAME" },
		{ "tracepoint:a:b:c", "after tracepoint: it takes CATEGORY:NAME" },
		{ "perf:cpu-clock", "after perf: it takes EVENT:frequency=HZ" },
		{ "perf:cpu-clok:period=1", "after perf: it takes EVENT:frequency=HZ" },
		{ "perf:cycles:period=0", "after perf: it takes" },
		{ "perf:cycles:period=-1", "after perf: it takes" },
		{ "perf:cycles:frequency=10001", "of 1 to 10000" },
		{ "perf:cycles:99", "after perf: it takes" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct hook hook = { .offset = 7 };
		char why[256] = "";

		CASE("\"%s\"", cases[i].text);
		CHECK_INT(hook_parse(cases[i].text, &hook, why, sizeof(why)), false);
		CHECK_HAS(why, cases[i].want);
		CHECK_UINT(hook.offset, 7);
	}
}

static void test_long(void)
{
	char text[HOOK_TEXT_MAX + 10], why[256];
	struct hook hook;

	CASE("long path");
	memset(text, 'a', sizeof(text));
	memcpy(text, "uprobe:/", 8);
	memcpy(text + 7 + 4095, ":f", 3);
	CHECK_INT(hook_parse(text, &hook, why, sizeof(why)), true);
	hook_done(&hook);
	memcpy(text + 7 + 4095, "a:f", 4);
	CHECK_INT(hook_parse(text, &hook, why, sizeof(why)), false);
	CASE("long text");
	memset(text, 'a', sizeof(text));
	memcpy(text, "kprobe:", 7);
	text[sizeof(text) - 1] = '\0';
	CHECK_INT(hook_parse(text, &hook, why, sizeof(why)), false);
}

int main(void)
{
	test_good();
	test_bad();
	test_long();
	return testing_end();
}
