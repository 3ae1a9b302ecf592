/* SPDX-License-Identifier: MIT */
/*
 * The grammar of the tags FILE and FIELD.
 */
#include "tests/unit/testing.h"

#include "plugin/schema/file_tag.h"

#include <errno.h>

#define X16 "0123456789abcde/"
#define X240 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16

/* ROOT|PATH|FORM|SKIP|ONLY */
static const struct {
	const char *text, *want;
} files[] = {
	{ "/proc/pressure/io", "0|pressure/io|0|0|" },
	{ "  /proc/vmstat\tkeys ", "0|vmstat|0|0|" },
	{ "/proc/net/snmp pairs", "0|net/snmp|1|0|" },
	{ "/sys/block/*/stat lines", "1|block/*/stat|2|0|" },
	{ "/proc/net/dev lines skip=2", "0|net/dev|2|2|" },
	{ "/proc/swaps header", "0|swaps|3|0|" },
	{ "/proc/softirqs cells only=NET_*", "0|softirqs|4|0|NET_*" },
	{ "/sys/devices/system/cpu/cpu*/cpufreq/scaling_cur_freq only=x lines skip=100",
	  "1|devices/system/cpu/cpu*/cpufreq/scaling_cur_freq|2|100|x" },
	{ "cgroup:io.stat lines", "2|io.stat|2|0|" },
	{ "cgroup:memory.events", "2|memory.events|0|0|" },
	{ "cgroup:a only=b controller=cpu limited=cpu.max optional single",
	  "2|a|0|0|b controller=cpu limited=cpu.max optional single" },
	{ "cgroup:a controller=memory highest", "2|a|0|0| controller=memory highest" },
	{ "/proc/1x/a", "0|1x/a|0|0|" },
	{ "/proc/" X240 "a", "0|" X240 "a|0|0|" },
};

static const struct {
	const char *text, *want;
} bad_files[] = {
	{ "", "\"\" is neither below /proc or /sys nor cgroup:NAME" },
	{ "/etc/passwd", "\"/etc/passwd\" is neither" },
	{ "proc/stat", "\"proc/stat\" is neither" },
	{ "/proc", "\"/proc\" is neither" },
	{ "/proc/", "\"/proc/\" is neither" },
	{ "/sys/../etc/passwd", "has a part that is not a name" },
	{ "/sys/./a", "has a part that is not a name" },
	{ "/sys//a", "has a part that is not a name" },
	{ "/sys/a/", "has a part that is not a name" },
	{ "/sys/a/..", "has a part that is not a name" },
	{ "/proc/self/environ", "is a process's" },
	{ "/proc/thread-self/io", "is a process's" },
	{ "/proc/1/cmdline", "is a process's" },
	{ "/proc/*/stat", "has an asterisk where processes are" },
	{ "/proc/s*f/environ", "has an asterisk where processes are" },
	{ "/sys/power/wakeup_count", "may wait" },
	{ "/sys/*/*", "has more than one asterisk" },
	{ "/sys/a**", "has more than one asterisk" },
	{ "cgroup:../memory.stat", "has a part that is not a name" },
	{ "cgroup:a/b", "is more than the name of a file of a cgroup" },
	{ "cgroup:*.stat", "is more than the name of a file of a cgroup" },
	{ "cgroup:..", "has a part that is not a name" },
	{ "cgroup:", "\"cgroup:\" is neither" },
	{ "/proc/" X240 X16 "a", "a path of more than 255 bytes" },
	{ "/proc/stat colums", "unknown word \"colums\" (keys, pairs, lines, header, cells" },
	{ "/proc/stat optional", "unknown word \"optional\"" },
	{ "/proc/stat controller=cpu", "unknown word \"controller=cpu\"" },
	{ "cgroup:a controller=pids", "unknown word \"controller=pids\"" },
	{ "cgroup:a controller=", "unknown word \"controller=\"" },
	{ "cgroup:a limited=../b", "unknown word \"limited=../b\"" },
	{ "cgroup:a limited=", "unknown word \"limited=\"" },
	{ "cgroup:a single highest", "either single or highest" },
	{ "/proc/stat skip=0", "unknown word \"skip=0\"" },
	{ "/proc/stat skip=101", "unknown word \"skip=101\"" },
	{ "/proc/stat skip=1x", "unknown word \"skip=1x\"" },
	{ "/proc/stat skip=-1", "unknown word \"skip=-1\"" },
	{ "/proc/stat only=", "unknown word \"only=\"" },
	{ "/proc/stat only=*a*", "unknown word \"only=*a*\"" },
};

static void test_files(void)
{
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		struct error error = { "" };
		struct file_tag tag;
		char got[512];

		CASE("%s", files[i].text);
		CHECK_INT(file_tag_parse(files[i].text, &tag, &error), 0);
		snprintf(got, sizeof(got), "%d|%s|%d|%u|%s%s%s%s%s%s%s%s", (int)tag.root, tag.path,
			 (int)tag.form, tag.skip, tag.only, tag.controller[0] ? " controller=" : "",
			 tag.controller, tag.limited[0] ? " limited=" : "", tag.limited,
			 tag.is_optional ? " optional" : "", tag.is_single ? " single" : "",
			 tag.is_highest ? " highest" : "");
		CHECK_TEXT(got, files[i].want);
	}
	for (size_t i = 0; i < COUNT_OF(bad_files); i++) {
		struct file_tag tag = { .path = "untouched" };
		struct error error = { "" };

		CASE("%s", bad_files[i].text);
		CHECK_INT(file_tag_parse(bad_files[i].text, &tag, &error), -EINVAL);
		CHECK_HAS(error.text, bad_files[i].want);
		CHECK_TEXT(tag.path, "untouched");
	}
}

/* LINE|WORD|POSITION|DECIMALS|hex|match */
static const struct {
	const char *file, *text, *want;
} fields[] = {
	{ "/proc/pressure/io", "some total", "some|total|0|0|0|0" },
	{ "/proc/pressure/io", "some avg10 decimals=2", "some|avg10|0|2|0|0" },
	{ "/proc/vmstat", "pgfault", "pgfault||1|0|0|0" },
	{ "/proc/stat", "cpu 4", "cpu||4|0|0|0" },
	{ "/proc/stat", "0", "0||1|0|0|0" },
	{ "/proc/net/snmp pairs", "Tcp RetransSegs", "Tcp|RetransSegs|0|0|0|0" },
	{ "/proc/net/snmp pairs", "Tcp 3", "Tcp||3|0|0|0" },
	{ "/proc/diskstats lines", "4", "||4|0|0|0" },
	{ "cgroup:io.stat lines", "rbytes", "|rbytes|0|0|0|0" },
	{ "/proc/net/softnet_stat lines", "base=16 1", "||1|0|1|0" },
	{ "/proc/swaps header", "Used", "|Used|0|0|0|0" },
	{ "/proc/softirqs cells", "3", "||3|0|0|0" },
	{ "/sys/block/*/stat lines", "*", "||0|0|0|1" },
	{ "/proc/loadavg lines", "\t1  decimals=9", "||1|9|0|0" },
};

static const struct {
	const char *file, *text, *want;
} bad_fields[] = {
	{ "/proc/vmstat", "", "with keys a FIELD is \"LINE\" or \"LINE WORD\"" },
	{ "/proc/vmstat", "a b c", "with keys a FIELD is" },
	{ "/proc/net/snmp pairs", "Tcp", "with pairs a FIELD is \"LINE WORD\"" },
	{ "/proc/diskstats lines", "a b", "with lines a FIELD is one \"WORD\"" },
	{ "/proc/diskstats lines", "", "with lines a FIELD is one \"WORD\"" },
	{ "/proc/swaps header", "a b", "with header a FIELD is one \"WORD\"" },
	{ "/proc/softirqs cells", "4", "with cells a FIELD is \"1\", \"2\" or \"3\"" },
	{ "/proc/softirqs cells", "CPU0", "with cells a FIELD is \"1\", \"2\" or \"3\"" },
	{ "/proc/vmstat", "*", "no part of the FILE has an asterisk" },
	{ "/proc/stat", "cpu 0", "\"0\" is neither a word" },
	{ "/proc/stat", "cpu 65536", "\"65536\" is neither a word" },
	{ "/proc/stat", "cpu decimals=0", "\"decimals=0\" is neither a word" },
	{ "/proc/stat", "cpu decimals=10", "\"decimals=10\" is neither a word" },
	{ "/proc/stat", "cpu base=8", "\"base=8\" is neither a word" },
	{ "/proc/stat", "cpu decimals=1 base=16", "either decimals=N or base=16" },
	{ "/proc/stat", X16 X16 X16 X16, "of 63 bytes at most" },
};

static void test_fields(void)
{
	for (size_t i = 0; i < COUNT_OF(fields); i++) {
		struct error error = { "" };
		struct field_tag tag;
		struct file_tag file;
		char got[256];

		CASE("%s of %s", fields[i].text, fields[i].file);
		CHECK_INT(file_tag_parse(fields[i].file, &file, &error), 0);
		CHECK_INT(field_tag_parse(fields[i].text, &file, &tag, &error), 0);
		snprintf(got, sizeof(got), "%s|%s|%u|%u|%d|%d", tag.line, tag.word, tag.position,
			 tag.decimals, tag.is_hex, tag.is_match);
		CHECK_TEXT(got, fields[i].want);
	}
	for (size_t i = 0; i < COUNT_OF(bad_fields); i++) {
		struct field_tag tag = { .line = "untouched" };
		struct error error = { "" };
		struct file_tag file;

		CASE("%s of %s", bad_fields[i].text, bad_fields[i].file);
		CHECK_INT(file_tag_parse(bad_fields[i].file, &file, &error), 0);
		CHECK_INT(field_tag_parse(bad_fields[i].text, &file, &tag, &error), -EINVAL);
		CHECK_HAS(error.text, bad_fields[i].want);
		CHECK_TEXT(tag.line, "untouched");
	}
}

static void test_globs(void)
{
	static const struct {
		const char *glob, *name;
		bool want;
	} cases[] = {
		{ "cpu*", "cpu0", true }, { "cpu*", "cpu", true },  { "cpu*", "cp", false },
		{ "*", "", true },        { "*", "x", true },       { "a*a", "a", false },
		{ "a*a", "aa", true },    { "a*b", "axxb", true },  { "a*b", "axxbc", false },
		{ "sd*", "vda", false },  { "eth0", "eth0", true }, { "eth0", "eth00", false },
	};
	size_t length = 0;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("%s, %s", cases[i].glob, cases[i].name);
		CHECK_INT(name_matches(cases[i].glob, cases[i].name, strlen(cases[i].name)),
			  cases[i].want);
	}
	CASE("components");
	CHECK_TEXT(path_wildcard("block/*/stat", &length), "*/stat");
	CHECK_UINT(length, 1);
	CHECK_TEXT(path_wildcard("a/cpu*x/b", &length), "cpu*x/b");
	CHECK_UINT(length, 5);
	CHECK_TEXT(path_wildcard("s*", &length), "s*");
	CHECK_UINT(length, 2);
	CHECK_INT(path_wildcard("a/b", &length) == NULL, 1);
}

int main(void)
{
	test_files();
	test_fields();
	test_globs();
	return testing_end();
}
