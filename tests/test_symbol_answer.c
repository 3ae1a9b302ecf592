/* SPDX-License-Identifier: MIT */
/*
 * Answers of the program that reads files of others, which one of them may have taken over.
 */
#include "testing.h"

#include "plugin/system/symbol_answer.h"

#include <errno.h>

#define FILE_SIZE 4096

struct answer {
	struct symbol_answer head;
	struct symbol_answer_name name;
	char reason[4];
	struct symbol_answer_name second;
	struct symbol_answer_place place[2];
	char arguments[8];
} __attribute__((packed));

static struct answer good(void)
{
	struct answer answer = {
		.head = { SYMBOL_VERSION, 2, { 0xab, 0x01 } },
		.name = { -ESRCH, 4, 0 },
		.reason = { 'w', '\n', '\x80', 'y' },
		.second = { 0, 0, 2 },
		.place = { { 100, 0, SYMBOL_GO, 0 }, { 200, 300, SYMBOL_RETURN, 8 } },
	};

	memcpy(answer.arguments, "-4@%edi ", 8);
	return answer;
}

static int take(const void *bytes, size_t size)
{
	char id[2 * SYMBOL_BUILD_ID_MAX + 1];
	struct symbol_found found[2];
	int status = symbol_answer_take(bytes, size, FILE_SIZE, 2, found, id);

	if (status == 0)
		symbol_found_done(found, 2);
	return status;
}

static void test_good(void)
{
	char id[2 * SYMBOL_BUILD_ID_MAX + 1];
	struct answer answer = good();
	struct symbol_found found[2];

	CASE("an answer");
	CHECK_INT(symbol_answer_take((char *)&answer, sizeof(answer), FILE_SIZE, 2, found, id), 0);
	CHECK_TEXT(id, "ab01");
	CHECK_INT(found[0].status, -ESRCH);
	CHECK_TEXT(found[0].error.text, "w??y");
	CHECK_INT(found[1].status, 0);
	CHECK_UINT(found[1].count, 2);
	CHECK_UINT(found[1].places[0].offset, 100);
	CHECK_UINT(found[1].places[0].flags, SYMBOL_GO);
	CHECK_INT(found[1].places[0].arguments == NULL, 1);
	CHECK_UINT(found[1].places[1].semaphore, 300);
	CHECK_TEXT(found[1].places[1].arguments, "-4@%edi ");
	symbol_found_done(found, 2);
	symbol_found_done(found, 2);
}

static void test_bad(void)
{
	struct answer answer;

	CASE("another version");
	answer = good();
	answer.head.version++;
	CHECK_INT(take(&answer, sizeof(answer)), -EPROTO);
#define BAD(change)                                                 \
	do {                                                        \
		answer = good();                                    \
		change;                                             \
		CASE("%s", #change);                                \
		CHECK_INT(take(&answer, sizeof(answer)), -EBADMSG); \
	} while (0)
	BAD(answer.head.build_id_size = SYMBOL_BUILD_ID_MAX + 1);
	BAD(answer.name.status = 1);
	BAD(answer.name.status = 0);
	BAD(answer.name.status = INT32_MIN);
	BAD(answer.name.count = 1);
	BAD(answer.name.reason_length = UINT32_MAX);
	BAD(answer.name.reason_length = SYMBOL_TEXT_MAX);
	BAD(answer.second.count = UINT32_MAX);
	BAD(answer.second.count = SYMBOL_PLACES_MAX + 1);
	BAD(answer.second.count = 3);
	BAD(answer.second.count = 1);
	BAD(answer.place[0].offset = FILE_SIZE);
	BAD(answer.place[0].flags = SYMBOL_RETURN);
	BAD(answer.place[1].flags = 8);
	BAD(answer.place[1].semaphore = FILE_SIZE);
	BAD(answer.place[1].arguments_length = UINT32_MAX);
	CASE("cut");
	answer = good();
	for (size_t size = 0; size < sizeof(answer); size++)
		CHECK_INT(take(&answer, size), -EBADMSG);
}

int main(void)
{
	test_good();
	test_bad();
	return testing_end();
}
