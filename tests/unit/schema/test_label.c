/* SPDX-License-Identifier: MIT */
/*
 * Labels: from the BTF of a key to the names of its members.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/label.h"

#include "bpf/lib/endpoint.h"
#include "plugin/schema/label_tags.h"
#include "plugin/service/name_tables.h"

#include <bpf/btf.h>
#include <errno.h>
#include <sys/syscall.h>

#define MEMBERS_MAX 4

static struct name_tables tables;

struct member {
	const char *word; /* NULL: no LABEL */
	enum { U32, S32, U16, U64, ENUM, TEXT, LONG, POINTER } type;
};

struct types {
	struct btf *btf;
	int id[POINTER + 1];
};

static const uint32_t sizes[] = { 4, 4, 2, 8, 4, 8, 16, 8 };

static void types_init(struct types *types)
{
	struct btf *btf = types->btf = btf__new_empty();
	int byte = btf__add_int(btf, "char", 1, BTF_INT_SIGNED);

	types->id[U32] = btf__add_int(btf, "unsigned int", 4, 0);
	types->id[S32] = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	types->id[U16] = btf__add_int(btf, "unsigned short", 2, 0);
	types->id[U64] = btf__add_int(btf, "unsigned long", 8, 0);
	types->id[ENUM] = btf__add_enum(btf, "colour", 4);
	btf__add_enum_value(btf, "red", 7);
	btf__add_enum_value(btf, "green-ish", 3);
	types->id[TEXT] = btf__add_array(btf, types->id[U32], byte, 8);
	types->id[LONG] = btf__add_int(btf, "unsigned __int128", 16, 0);
	types->id[POINTER] = btf__add_ptr(btf, byte);
}

/* A struct with these members, without padding. */
static int add_key(struct types *types, const struct member *members, uint32_t *ret_size)
{
	uint32_t size = 0;
	int count = 0, id;

	for (count = 0; count < MEMBERS_MAX && (count == 0 || members[count].word); count++)
		size += sizes[members[count].type];
	id = btf__add_struct(types->btf, "key", size);
	*ret_size = size;
	size = 0;
	for (int i = 0; i < count; i++) {
		char name[8] = { 'm', (char)('0' + i) };

		btf__add_field(types->btf, name, types->id[members[i].type], 8 * size, 0);
		size += sizes[members[i].type];
	}
	for (int i = count - 1; i >= 0; i--) {
		char text[128];

		snprintf(text, sizeof(text), "label:%s", members[i].word ?: "");
		if (members[i].word)
			btf__add_decl_tag(types->btf, text, id, i);
	}
	return id;
}

static void test_read(void)
{
	static const struct {
		const char *name;
		struct member members[MEMBERS_MAX + 1];
		bool cpu;
		int subject;
		const char *error; /* NULL: none */
	} cases[] = {
		{ "service first", { { "service", U32 }, { "syscall", U32 } }, 0, 0, NULL },
		{ "service last", { { "cpu", U16 }, { "service", U32 } }, 0, 1, NULL },
		{ "a thing", { { "errno", S32 }, { "device", U32 } }, 0, 1, NULL },
		{ "no thing", { { "string", TEXT }, { "enum", ENUM } }, 0, -1, NULL },
		{ "CPUs apart", { { "device", U32 } }, 1, -1, NULL },
		{ "unknown",
		  { { "uptime", U32 } },
		  0,
		  -1,
		  "map m, member m0 of the key: unknown label \"uptime\" (service, cpu, device" },
		{ "none", { { NULL, U32 } }, 0, -1, "no member of that has a LABEL" },
		{ "an address of one kind", { { "address", U32 } }, 0, -1, NULL },
		{ "a long address", { { "address", LONG } }, 0, -1, "has 4 or 16 bytes" },
		{ "an address of 8 bytes", { { "address", TEXT } }, 0, -1, "has 4 or 16 bytes" },
		{ "a cgroup", { { "cgroup", U64 } }, 0, -1, NULL },
		{ "a function of the kernel", { { "ksym", U64 }, { "number", U16 } }, 0, -1, NULL },
		{ "a device as stat has it", { { "device_stat", U32 } }, 0, 0, NULL },
		{ "bytes", { { "hex", TEXT } }, 0, -1, NULL },
		{ "no bytes", { { "hex", U32 } }, 0, -1, "needs an array of char" },
		{ "a class", { { "service", U32 }, { "class", TEXT } }, 0, 0, NULL },
		{ "no class", { { "class", U32 } }, 0, -1, "needs an array of char" },
		{ "no text", { { "string", U32 } }, 0, -1, "needs an array of char" },
		{ "no integer", { { "cpu", TEXT } }, 0, -1, "needs an integer" },
		{ "no enum", { { "enum", U32 } }, 0, -1, "the label enum needs an enum" },
		{ "too wide", { { "cpu", LONG } }, 0, -1, "of 1, 2, 4 or 8 bytes" },
		{ "a pointer", { { "cpu", POINTER } }, 0, -1, "needs an integer" },
		{ "two services",
		  { { "service", U32 }, { "service", U32 } },
		  0,
		  -1,
		  "one label service at most" },
		{ "a service on each CPU", { { "service", U32 } }, 1, -1, "has the word cpu" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct subject_tag subject = { .kind = SUBJECT_KEY, .cpu = cases[i].cpu };
		struct error error = { "" };
		struct labels labels;
		struct types types;
		uint32_t size;
		int id, status;

		CASE("%s", cases[i].name);
		types_init(&types);
		id = add_key(&types, cases[i].members, &size);
		status = labels_read(&labels, types.btf, "m", (uint32_t)id, size, &subject, &error);
		CHECK_INT(status, cases[i].error ? -EINVAL : 0);
		CHECK_HAS(error.text, cases[i].error ?: "");
		if (status == 0)
			CHECK_INT(labels.subject, cases[i].subject);
		labels_done(&labels);
		btf__free(types.btf);
	}
}

/* Keys that are no struct. */
static void test_plain(void)
{
	static const struct {
		const char *name, *word;
		int type;
		const char *error;
	} cases[] = {
		{ "an enum", "", ENUM, NULL },
		{ "an integer", "signal", U32, NULL },
		{ "an integer without a word", "", U32, "nor SUBJECT a label=WORD" },
		{ "an unknown word", "moon", U32, "unknown label \"moon\"" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct subject_tag subject = { .kind = SUBJECT_KEY };
		struct error error = { "" };
		struct labels labels;
		struct types types;

		CASE("%s", cases[i].name);
		types_init(&types);
		strcpy(subject.label, cases[i].word);
		CHECK_INT(labels_read(&labels, types.btf, "m", (uint32_t)types.id[cases[i].type], 4,
				      &subject, &error),
			  cases[i].error ? -EINVAL : 0);
		CHECK_HAS(error.text, cases[i].error ?: "");
		labels_done(&labels);
		btf__free(types.btf);
	}
}

static void test_names(void)
{
	static const struct {
		const char *word;
		int64_t value;
		bool is_signed;
		const char *want;
	} cases[] = {
		{ "cpu", 3, 0, "cpu3" },
		{ "device", 0xfffffffffff, 0, "16777215:1048575" },
		{ "interface", 1, 0, "lo" },
		{ "interface", 99999999, 0, "if99999999" },
		{ "syscall", SYS_getppid, 0, "getppid" },
		{ "syscall", 99999, 0, "syscall_99999" },
		{ "syscall", -1, 1, "syscall_-1" },
		{ "errno", 2, 0, "ENOENT" },
		{ "errno", -2, 1, "ENOENT" },
		{ "errno", 0, 1, "none" },
		{ "errno", -9999, 1, "errno_-9999" },
		{ "errno", INT64_MIN, 1, "errno_-9223372036854775808" },
		{ "signal", 9, 0, "SIGKILL" },
		{ "signal", 0, 0, "signal_0" },
		{ "signal", 64, 0, "signal_64" },
		{ "user", 0, 0, "root" },
		{ "user", 4294967295, 0, "user_4294967295" },
		{ "user", -1, 1, "user_-1" },
		{ "enum", 7, 0, "red" },
		{ "enum", 3, 0, "green-ish" },
		{ "enum", 5, 0, "5" },
	};
	struct enumerator enumerators[] = { { 3, "green-ish" }, { 7, "red" } };

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct label label = {
			.kind = label_kind(cases[i].word),
			.names = &tables.labels,
			.offset = 8,
			.size = 8,
			.is_signed = cases[i].is_signed,
			.enumerators = enumerators,
			.enumerator_count = 2,
		};
		unsigned char key[16];
		char name[64];

		CASE("%s %jd", cases[i].word, (intmax_t)cases[i].value);
		memcpy(key + 8, &cases[i].value, 8);
		if (label_name(&label, key, name, sizeof(name)) == NAME_PENDING) {
			device_names_refresh(&tables.devices, 1);
			label_name(&label, key, name, sizeof(name));
		}
		CHECK_TEXT(name, cases[i].want);
	}
}

/* Texts that may be hostile. */
static void test_texts(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "plain", "plain" },      { "", "_" },         { "a/b c", "a_b_c" },
		{ "other", "other_" },     { "self", "self_" }, { "\xff\n", "__" },
		{ "12345678", "1234567" },
	};
	const struct label label = text_label("string", 0, 8);

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		unsigned char key[8] = { 0 };
		char name[9];

		CASE("text %zu", i);
		memcpy(key, cases[i].text, strlen(cases[i].text));
		label_name(&label, key, name, sizeof(name));
		CHECK_TEXT(name, cases[i].want);
	}
}

static void test_addresses(void)
{
	static const struct {
		unsigned char bytes[16];
		uint32_t size;
		const char *want;
	} cases[] = {
		{ { 127, 0, 0, 1 }, 4, "127.0.0.1" },
		{ { 0 }, 16, "::" },
		{ { 0xfe, 0x80, [15] = 1 }, 16, "fe80::1" },
		{ { [10] = 0xff, [11] = 0xff, 10, 0, 0, 9 }, 16, "10.0.0.9" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct label label = label_of("address", 0, cases[i].size);
		char name[64];

		CASE("%s", cases[i].want);
		label_name(&label, cases[i].bytes, name, sizeof(name));
		CHECK_TEXT(name, cases[i].want);
	}
}

static void test_endpoints(void)
{
	static const struct {
		const char bytes[20];
		uint32_t size;
		const char *want;
	} cases[] = {
		{ { ENDPOINT_IPV4, 127, 0, 0, 1, 0x0c, (char)0xea }, 20, "127.0.0.1:3306" },
		{ { ENDPOINT_IPV6, 0x20, 1, 0x0d, (char)0xb8, [16] = 1, 0, 80 },
		  20,
		  "_2001:db8::1_:80" },
		{ "/run/a.sock", 20, "_run_a.sock" },
		{ "@", 20, "@" },
		{ { ENDPOINT_IPV6, 'a', 'b' }, 18, "_ab" },
		{ { ENDPOINT_IPV4 }, 1, "_" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct label label = text_label("endpoint", 0, cases[i].size);
		char name[64];

		CASE("%s", cases[i].want);
		label_name(&label, (const unsigned char *)cases[i].bytes, name, sizeof(name));
		CHECK_TEXT(name, cases[i].want);
	}
}

int main(void)
{
	char passwd[] = "root:x:0:0:root:/root:/bin/sh\n";

	name_tables_init(&tables);
	users_parse(&tables.users, passwd);
	device_names_want(&tables.devices);
	device_names_refresh(&tables.devices, 1);
	test_read();
	test_plain();
	test_names();
	test_texts();
	test_addresses();
	test_endpoints();
	name_tables_done(&tables);
	return testing_end();
}
