/* SPDX-License-Identifier: MIT */
/*
 * Replies of ebpf-symbols, which parses files of others and may have been taken over by one.
 */
#include "tests/unit/testing.h"

#include "plugin/helper/symbol_reply.h"

#include <errno.h>

#define FILE_SIZE 4096

struct reply {
	struct symbol_reply head;
	struct symbol_reply_name name;
	char reason[4];
	struct symbol_reply_name second;
	struct symbol_reply_location location[2];
	char arguments[8];
} __attribute__((packed));

static struct reply good(void)
{
	struct reply reply = {
		.head = { SYMBOL_VERSION, 2, { 0xab, 0x01 }, -ESTALE },
		.name = { -ESRCH, 4, 0 },
		.reason = { 'w', '\n', '\x80', 'y' },
		.second = { 0, 0, 2 },
		.location = { { 100, 0, SYMBOL_GO, 0 }, { 200, 300, SYMBOL_RETURN, 8 } },
	};

	memcpy(reply.arguments, "-4@%edi ", 8);
	return reply;
}

static int parse(const void *bytes, size_t size)
{
	struct symbol_about about;
	struct symbol_found found[2];
	int status = symbol_reply_parse(bytes, size, FILE_SIZE, 2, found, &about);

	if (status == 0)
		symbol_found_done(found, 2);
	return status;
}

static void test_good(void)
{
	struct symbol_about about;
	struct reply reply = good();
	struct symbol_found found[2];

	CASE("a reply");
	CHECK_INT(symbol_reply_parse((char *)&reply, sizeof(reply), FILE_SIZE, 2, found, &about),
		  0);
	CHECK_UINT(about.build_id_size, 2);
	CHECK_UINT(about.build_id[0], 0xab);
	CHECK_UINT(about.build_id[1], 0x01);
	CHECK_INT(about.debug_status, -ESTALE);
	CHECK_INT(found[0].status, -ESRCH);
	CHECK_TEXT(found[0].error.text, "w??y");
	CHECK_INT(found[1].status, 0);
	CHECK_UINT(found[1].count, 2);
	CHECK_UINT(found[1].locations[0].offset, 100);
	CHECK_UINT(found[1].locations[0].flags, SYMBOL_GO);
	CHECK_INT(found[1].locations[0].arguments == NULL, 1);
	CHECK_UINT(found[1].locations[1].semaphore, 300);
	CHECK_TEXT(found[1].locations[1].arguments, "-4@%edi ");
	symbol_found_done(found, 2);
	symbol_found_done(found, 2);
}

static void test_bad(void)
{
	struct reply reply;

	CASE("another version");
	reply = good();
	reply.head.version++;
	CHECK_INT(parse(&reply, sizeof(reply)), -EPROTO);
	CHECK_INT(parse(&reply, sizeof(uint32_t)), -EPROTO);
#define BAD(change)                                                \
	do {                                                       \
		reply = good();                                    \
		change;                                            \
		CASE("%s", #change);                               \
		CHECK_INT(parse(&reply, sizeof(reply)), -EBADMSG); \
	} while (0)
	BAD(reply.head.build_id_size = SYMBOL_BUILD_ID_MAX + 1);
	BAD(reply.head.debug_status = 1);
	BAD(reply.head.debug_status = INT32_MIN);
	BAD(reply.name.status = 1);
	BAD(reply.name.status = 0);
	BAD(reply.name.status = INT32_MIN);
	BAD(reply.name.count = 1);
	BAD(reply.name.reason_length = UINT32_MAX);
	BAD(reply.name.reason_length = SYMBOL_TEXT_MAX);
	BAD(reply.second.count = UINT32_MAX);
	BAD(reply.second.count = SYMBOL_LOCATIONS_MAX + 1);
	BAD(reply.second.count = 3);
	BAD(reply.second.count = 1);
	BAD(reply.location[0].offset = FILE_SIZE);
	BAD(reply.location[0].flags = SYMBOL_RETURN);
	BAD(reply.location[1].flags = 16);
	BAD(reply.location[1].semaphore = FILE_SIZE);
	BAD(reply.location[1].arguments_length = UINT32_MAX);
	CASE("cut");
	reply = good();
	for (size_t size = 0; size < sizeof(reply); size++)
		CHECK_INT(parse(&reply, size), -EBADMSG);
}

#define NAMES_COUNT 3

struct names_reply {
	struct symbol_reply head;
	struct symbol_reply_names names;
	uint32_t none;
	uint32_t length;
	char text[12];
	uint32_t last_length;
	char last[2];
} __attribute__((packed));

static struct names_reply good_names(void)
{
	struct names_reply reply = {
		.head = { SYMBOL_VERSION, 2, { 0xab, 0x01 } },
		.names = { 0, 1 },
		.length = 12,
		.last_length = 2,
	};

	memcpy(reply.text, "a;b\0c\n\x7f\0\xc3\xa4 d", 12);
	memcpy(reply.last, "xy", 2);
	return reply;
}

static int parse_names(const void *bytes, size_t size)
{
	struct symbol_about about;
	struct symbol_names names;
	int status = symbol_reply_parse_names(bytes, size, NAMES_COUNT, &names, &about);

	if (status == 0 && about.status == 0)
		symbol_names_done(&names);
	return status;
}

static void test_good_names(void)
{
	struct names_reply reply = good_names();
	struct symbol_about about;
	struct symbol_names names;
	size_t size = offsetof(struct names_reply, none);

	CASE("names");
	CHECK_INT(symbol_reply_parse_names((char *)&reply, sizeof(reply), NAMES_COUNT, &names,
					   &about),
		  0);
	CHECK_INT(about.status, 0);
	CHECK_INT(about.wants_debug, 1);
	CHECK_UINT(about.build_id_size, 2);
	CHECK_UINT(about.build_id[1], 1);
	CHECK_UINT(names.count, NAMES_COUNT);
	CHECK_INT(names.name[0] == NULL, 1);
	CHECK_TEXT(names.name[1], "a:b;c??;?? d");
	CHECK_TEXT(names.name[2], "xy");
	symbol_names_done(&names);
	symbol_names_done(&names);
	CASE("a file of another kind");
	reply.names.status = -ENOEXEC;
	CHECK_INT(symbol_reply_parse_names((char *)&reply, size, NAMES_COUNT, &names, &about), 0);
	CHECK_INT(about.status, -ENOEXEC);
	CHECK_INT(parse_names(&reply, sizeof(reply)), -EBADMSG);
}

static void test_bad_names(void)
{
	struct names_reply reply;

	CASE("names: another version");
	reply = good_names();
	reply.head.version--;
	CHECK_INT(parse_names(&reply, sizeof(reply)), -EPROTO);
#define BAD_NAMES(change)                                                \
	do {                                                             \
		reply = good_names();                                    \
		change;                                                  \
		CASE("names: %s", #change);                              \
		CHECK_INT(parse_names(&reply, sizeof(reply)), -EBADMSG); \
	} while (0)
	BAD_NAMES(reply.head.build_id_size = SYMBOL_BUILD_ID_MAX + 1);
	BAD_NAMES(reply.names.status = 1);
	BAD_NAMES(reply.names.status = -EPERM);
	BAD_NAMES(reply.names.wants_debug = 2);
	BAD_NAMES(reply.none = 1);
	BAD_NAMES(reply.length = UINT32_MAX);
	BAD_NAMES(reply.length = 11);
	BAD_NAMES(reply.length = 13);
	BAD_NAMES(reply.text[0] = '\0');
	BAD_NAMES(reply.text[4] = '\0');
	BAD_NAMES(reply.text[11] = '\0');
	BAD_NAMES(reply.last_length = 0);
	BAD_NAMES(reply.last_length = 1);
	BAD_NAMES(reply.last_length = 3);
	CASE("names: cut");
	reply = good_names();
	for (size_t size = 0; size < sizeof(reply); size++)
		CHECK_INT(parse_names(&reply, size), -EBADMSG);
}

/* A name of the maximum length, and one byte more. */
static void test_long_names(void)
{
	struct {
		struct symbol_reply head;
		struct symbol_reply_names names;
		uint32_t length;
		char text[SYMBOL_NAMED_MAX];
	} __attribute__((packed)) reply = { .head = { .version = SYMBOL_VERSION } };
	struct symbol_about about;
	struct symbol_names names;

	memset(reply.text, 'n', sizeof(reply.text));
	for (uint32_t more = 0; more < 2; more++) {
		size_t cut = sizeof(reply) - 1 + more;

		CASE("names: the longest, and %u more", more);
		reply.length = SYMBOL_NAMED_MAX - 1 + more;
		CHECK_INT(symbol_reply_parse_names((char *)&reply, cut, 1, &names, &about),
			  more ? -EBADMSG : 0);
	}
	CHECK_UINT(strlen(names.name[0]), SYMBOL_NAMED_MAX - 1);
	symbol_names_done(&names);
}

int main(void)
{
	test_good();
	test_bad();
	test_good_names();
	test_bad_names();
	test_long_names();
	return testing_end();
}
