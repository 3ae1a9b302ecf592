/* SPDX-License-Identifier: MIT */
/*
 * plugin/schema/decode.c and label_block.c: names from the bytes of a key, by Key blocks and Decode
 * lines.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/configuration.h"
#include "tests/unit/fake/label.h"

#include "plugin/schema/label_block.h"
#include "plugin/service/name_tables.h"

#include <errno.h>

#define TEXT_MAX 4096

static struct config config;
static struct name_tables tables;

/* The labels of a table with these Key blocks, without BTF. */
static int describe(const char *keys, uint32_t key_size, struct labels *ret_labels,
		    struct error *error)
{
	const struct map_shape map = { .name = "m", .key_size = key_size, .value_size = 8 };
	char text[TEXT_MAX];

	snprintf(text, sizeof(text), "<Probe \"p\">\n<Table \"m\">\n%s\n</Table>\n</Probe>\n",
		 keys);
	CHECK_INT(read_text(&config, text), 0);
	return labels_describe(ret_labels, NULL, &map, &config.probes[0].tables[0], error);
}

/* Devices have names after a refresh, and unknown ones after another. */
static enum name_state name_of(const struct label *label, const char *key, char *to, size_t size)
{
	enum name_state state = NAME_PENDING;

	for (int i = 0; i < 3 && state == NAME_PENDING; i++) {
		state = label_name(label, (const unsigned char *)key, to, size);
		device_names_refresh(&tables.devices, 1);
	}
	return state;
}

static void test_names(void)
{
	static const struct {
		const char *lines; /* lines of the Key block */
		const char *key;
		uint32_t size;
		const char *want; /* NULL: the row is left out */
	} cases[] = {
		{ "", "\x2a", 1, "42" },
		{ "", "\x01\x02\x03", 3, "197121" },
		{ "Decode \"uint\" \"big\"", "\x01\x02\x03", 3, "66051" },
		{ "Decode \"int\"", "\xfe\xff", 2, "-2" },
		{ "Decode \"int\" \"big\"", "\xff\xff\xff\xff\xff\xfe", 6, "-2" },
		{ "Decode \"uint\"", "\xff\xff\xff\xff\xff\xff\xff\xff", 8,
		  "18446744073709551615" },
		{ "Decode \"errno\"", "\x02\0\0\0", 4, "ENOENT" },
		{ "Decode \"uint\"\nDecode \"signal\"", "\x0f", 1, "SIGTERM" },
		{ "Decode \"device\" \"stat\"", "\x01\xff\0\0", 4, "255:1" },
		{ "Decode \"address\"", "\x7f\0\0\1", 4, "127.0.0.1" },
		{ "Decode \"string\"", "abc\0def", 7, "abc" },
		{ "Decode \"string\"", "abcdefg", 7, "abcdefg" },
		{ "Decode \"hex\"", "\x00\xab\x7f", 3, "00ab7f" },
		{ "Decode \"string\"", "a/b c\n", 6, "a_b_c_" },
		{ "Decode \"string\"", "..", 2, "_." },
		{ "Decode \"string\"", "other\0", 6, "other_" },
		{ "Decode \"string\"", "\xff\xfe", 2, "__" },
		{ "Decode \"map\" 1 \"one\" 2 \"two\"", "\x02", 1, "two" },
		{ "Decode \"map\" \"0x10\" \"sixteen\"", "\x10", 1, "sixteen" },
		{ "Decode \"map\" 1 \"one\"", "\x07", 1, "7" },
		{ "Decode \"map-strict\" 1 \"one\"", "\x07", 1, "unknown:7" },
		{ "Decode \"map-strict\" 7 \"self\"", "\x07", 1, "self_" },
		{ "Decode \"string\"\nDecode \"map\" \"a\" \"b\"\nDecode \"map\" \"b\" \"c\"",
		  "a\0", 2, "c" },
		{ "Decode \"string\"\nDecode \"regexp\" \"^x\" \"^(kswapd).*$\"", "kswapd12", 8,
		  "kswapd" },
		{ "Decode \"string\"\nDecode \"regexp\" \"^(?:a)(b)(c)\"", "abcd", 4, "b" },
		{ "Decode \"string\"\nDecode \"regexp\" \"[0-9]+\"", "ab12cd", 6, "12" },
		{ "Decode \"string\"\nDecode \"regexp\" \"(z)?b\"", "ab", 2, "b" },
		{ "Decode \"string\"\nDecode \"regexp\" \"^x\"", "abc", 3, NULL },
		{ "Decode \"string\"\nDecode \"regexp\" \"^(a+)+$\"",
		  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", 34, NULL },
		{ "Decode \"string\"\nDecode \"dname\"", "\7example\3com\0", 13, "example.com" },
		{ "Decode \"string\"\nDecode \"dname\"", "\x7f\x01x", 3, "__x" },
		{ "Decode \"string\"\nDecode \"dname\"", "\x05x", 2, "_x" },
		{ "Decode \"ksym\"", "\x10\x20\0\0\0\0\0\0", 8, "middle" },
		{ "Decode \"ksym\"", "\x01\0\0\0\0\0\0\0", 8, "ksym_1" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char keys[TEXT_MAX / 2], name[64] = "";
		struct error error = { "" };
		struct labels labels;

		CASE("%s", cases[i].lines);
		snprintf(keys, sizeof(keys), "<Key \"k\">\nSize %u\n%s\n</Key>", cases[i].size,
			 cases[i].lines);
		CHECK_INT(describe(keys, cases[i].size, &labels, &error), 0);
		CHECK_TEXT(error.text, "");
		labels_use_names(&labels, &tables.labels);
		if (labels.count == 1)
			CHECK_INT(name_of(&labels.label[0], cases[i].key, name, sizeof(name)),
				  cases[i].want ? NAME_FOUND : NAME_NONE);
		CHECK_TEXT(cases[i].want ? name : "", cases[i].want ?: "");
		labels_done(&labels);
		config_done(&config);
	}
}

/* No cgroup has this number, which is known once it was tried. */
static void test_cgroup(void)
{
	const unsigned char key[] = "\xff\xff\xff\xff\xff\xff\xff\xff";
	struct error error = { "" };
	struct labels labels;
	char name[64] = "";

	CASE("a cgroup");
	CHECK_INT(describe("<Key \"k\">\nSize 8\nDecode \"cgroup\"\n</Key>", 8, &labels, &error),
		  0);
	labels_use_names(&labels, &tables.labels);
	CHECK_INT(label_name(&labels.label[0], key, name, sizeof(name)), NAME_PENDING);
	CHECK_TEXT(name, "");
	cgroup_names_refresh(&tables.cgroups);
	CHECK_INT(label_name(&labels.label[0], key, name, sizeof(name)), NAME_FOUND);
	CHECK_TEXT(name, "cgroup_18446744073709551615");
	labels_done(&labels);
	config_done(&config);
}

/* The first symbol at an address counts; entries that are no function or have no address are
 * ignored. */
static void test_ksyms(void)
{
	char text[] =
		"0000000000003000 T last\n0000000000001000 t first\n0000000000002000 T middle\n"
		"0000000000002000 t alias\n0000000000002500 d data\n0000000000000000 T zero\n"
		"none\n\n2800\n2800 T\n2800 t \n0000000000002900 W weak\t[module]\n"
		"0000000000002a00 tx y";
	char name[16] = "";

	ksyms_want(&tables.ksyms);
	CASE("symbols");
	CHECK_INT(ksyms_parse(&tables.ksyms, text), 0);
	CHECK_INT(ksym_name(&tables.ksyms, 0xfff, name, sizeof(name)), false);
	CHECK_INT(ksym_name(&tables.ksyms, 0x1fff, name, sizeof(name)), true);
	CHECK_TEXT(name, "first");
	CHECK_INT(ksym_name(&tables.ksyms, 0x2000, name, sizeof(name)), true);
	CHECK_TEXT(name, "middle");
	CHECK_INT(ksym_name(&tables.ksyms, 0x2fff, name, sizeof(name)), true);
	CHECK_TEXT(name, "weak");
	CHECK_INT(ksym_name(&tables.ksyms, 0x3000, name, 3), true);
	CHECK_TEXT(name, "la");
	CHECK_INT(ksym_name(&tables.ksyms, UINT64_MAX, name, sizeof(name)), false);
}

static void test_mistakes(void)
{
	static const struct {
		const char *keys, *want;
	} cases[] = {
		{ "<Key \"k\">\n</Key>",
		  "member k of the key: the object does not say how large it is; "
		  "give its Size" },
		{ "<Key \"k\">\nOffset 4\n</Key>", "Offset needs a Size" },
		{ "<Key \"k\">\nSize 17\n</Key>", "lies outside of the key" },
		{ "<Key \"k\">\nSize 8\nOffset 9\n</Key>", "lies outside of the key" },
		{ "<Key \"a\">\nSize 8\nPadding 8\n</Key>\n<Key \"b\">\nSize 1\n</Key>",
		  "member b of the key: lies outside of the key" },
		{ "<Key \"k\">\nSize 16\n</Key>", "a number has 8 bytes at most" },
		{ "<Key \"k\">\nSize 4\nDecode \"moon\"\n</Key>",
		  "unknown Decode \"moon\" (uint, int, " },
		{ "<Key \"k\">\nSize 4\nDecode \"device\" \"moon\"\n</Key>",
		  "unknown Decode \"device\" with more after it" },
		{ "<Key \"k\">\nSize 4\nDecode \"uint\" \"middle\"\n</Key>",
		  "only \"big\" or \"little\" can follow" },
		{ "<Key \"k\">\nSize 4\nDecode \"uint\"\nDecode \"string\"\n</Key>",
		  "this name is made of bytes" },
		{ "<Key \"k\">\nSize 5\nDecode \"address\"\n</Key>",
		  "an address has 4 or 16 bytes" },
		{ "<Key \"k\">\nSize 8\nDecode \"service\"\n</Key>", "a service has 4 bytes" },
		{ "<Key \"k\">\nSize 4\nDecode \"enum\"\n</Key>", "BTF has no enum there" },
		{ "<Key \"k\">\nSize 4\nDecode \"errno\"\nDecode \"signal\"\n</Key>",
		  "after a name only map, map-strict, regexp and dname can follow" },
		{ "<Key \"k\">\nSize 4\nDecode \"map\" 1\n</Key>", "takes pairs" },
		{ "<Key \"k\">\nSize 4\nDecode \"regexp\"\n</Key>", "takes regular expressions" },
		{ "<Key \"k\">\nSize 4\nDecode \"regexp\" \"(\"\n</Key>",
		  "it is not a regular expression" },
		{ "<Key \"k\">\nSize 4\nDecode \"regexp\" \"(a)\\\\1\"\n</Key>", "back reference" },
		{ "<Key \"k\">\nSize 4\nDecode \"dname\" 1\n</Key>", "takes nothing more" },
		{ "<Key \"k\">\nSize 4\nDecode \"bucket\"\nDecode \"map\" 1 \"x\"\n</Key>",
		  "nothing can be made of it" },
		{ "<Key \"k\">\nSize 4\nDecode \"none\"\nSubject true\n</Key>",
		  "Subject needs a name" },
		{ "<Key \"a\">\nSize 4\nDecode \"bucket\"\n</Key>\n<Key \"b\">\nSize 4\nDecode "
		  "\"bucket\"\n</Key>",
		  "another Key block has Decode \"bucket\"" },
		{ "<Key \"a\">\nSize 4\nSubject true\n</Key>\n<Key \"b\">\nSize 4\nSubject "
		  "true\n</Key>",
		  "another Key block has Subject" },
		{ "<Key \"a\">\nSize 4\nSubject true\n</Key>\nEachCpu true",
		  "either EachCpu or Subject" },
		{ "<Key \"a\">\nSize 4\nDecode \"service\"\n</Key>\n<Key \"b\">\nSize 4\nDecode "
		  "\"service\"\n</Key>",
		  "a key has one label service at most" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct error error = { "" };
		struct labels labels;

		CASE("%s", cases[i].keys);
		CHECK_INT(describe(cases[i].keys, 16, &labels, &error), -EINVAL);
		CHECK_HAS(error.text, "map m");
		CHECK_HAS(error.text, cases[i].want);
		config_done(&config);
	}
}

/* Which label is the plugin instance, and which members are skipped. */
static void test_subject(void)
{
	static const struct {
		const char *keys;
		int count, subject;
	} cases[] = {
		{ "", 0, -1 },
		{ "<Key \"a\">\nSize 4\n</Key>", 1, -1 },
		{ "<Key \"a\">\nSize 4\n</Key>\n<Key \"b\">\nSize 4\nDecode \"device\"\n</Key>", 2,
		  1 },
		{ "<Key \"a\">\nSize 4\nDecode \"cpu\"\n</Key>\n<Key \"b\">\nSize 4\nDecode "
		  "\"service\"\n</Key>",
		  2, 1 },
		{ "<Key \"a\">\nSize 4\nDecode \"cpu\"\n</Key>\n<Key \"b\">\nSize 4\nSubject "
		  "true\n</Key>",
		  2, 1 },
		{ "<Key \"a\">\nSize 4\nDecode \"cpu\"\n</Key>\nEachCpu true", 1, -1 },
		{ "<Key \"a\">\nSize 4\nDecode \"none\"\n</Key>\n<Key \"b\">\nSize 4\nDecode "
		  "\"bucket\"\n</Key>",
		  0, -1 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct error error = { "" };
		struct labels labels;

		CASE("%s", cases[i].keys);
		CHECK_INT(describe(cases[i].keys, 16, &labels, &error), 0);
		CHECK_INT((int)labels.count, cases[i].count);
		CHECK_INT(labels.subject, cases[i].subject);
		labels_done(&labels);
		config_done(&config);
	}
}

int main(void)
{
	name_tables_init(&tables);
	test_ksyms();
	test_names();
	test_cgroup();
	test_mistakes();
	test_subject();
	name_tables_done(&tables);
	return testing_end();
}
