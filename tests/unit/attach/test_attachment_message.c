/* SPDX-License-Identifier: MIT */
/*
 * Messages about attachments: each is logged once, for all lines of the configuration that it
 * applies to.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/daemon.h"

#include "plugin/attach/attachment_message.h"

#define FUNCTIONS_MAX 200

static struct attachment attachments[2 * FUNCTIONS_MAX], *items[2 * FUNCTIONS_MAX];
static char names[FUNCTIONS_MAX][40];

/* Makes attachments of functions: of each its entry and, with `pairs`, its return. Returns how
 * many there are. */
static size_t make(size_t functions, bool pairs)
{
	size_t count = 0;

	for (size_t i = 0; i < functions; i++) {
		snprintf(names[i], sizeof(names[i]), "Function \"f%zu\"", i);
		for (int at_return = 0; at_return <= pairs; at_return++, count++) {
			attachments[count] = (struct attachment){ .what = names[i],
								  .at_return = at_return,
								  .is_paired = pairs };
			items[count] = &attachments[count];
		}
	}
	daemon_clear();
	return count;
}

static void note_all(size_t count, enum attachment_state state, const char *why)
{
	for (size_t i = 0; i < count; i++)
		attachment_note(items[i], state, why);
	attachments_log(items, count, "own");
}

/* Messages count functions, not attachments. */
static void test_count(void)
{
	static const struct {
		size_t functions;
		const char *refused, *deferred, *single_step;
	} cases[] = {
		{ 1, "probe own: ignoring Function \"f0\" until its file changes: broken",
		  "probe own: Function \"f0\" is not attached yet and is tried again: busy",
		  "probe own: Function \"f0\": the kernel has to single-step" },
		{ 2,
		  "probe own: ignoring Function \"f0\" and 1 other until their file changes: broken",
		  "probe own: Function \"f0\" and 1 other are not attached yet and are tried again: "
		  "busy",
		  "probe own: Function \"f0\" and 1 other: the kernel has to single-step" },
		{ 200,
		  "probe own: ignoring Function \"f0\" and 199 others until their file changes: "
		  "broken",
		  "probe own: Function \"f0\" and 199 others are not attached yet and are tried "
		  "again: busy",
		  "probe own: Function \"f0\" and 199 others: the kernel has to single-step" },
	};

	for (size_t i = 0; i < 2 * COUNT_OF(cases); i++) {
		bool pairs = i % 2;
		size_t count = make(cases[i / 2].functions, pairs);

		CASE("%zu functions%s", cases[i / 2].functions, pairs ? ", with returns" : "");
		note_all(count, ATTACHMENT_FILE_REFUSED, "broken");
		CHECK_UINT(daemon_messages(), 1);
		CHECK_TEXT(daemon_message(0), cases[i / 2].refused);
		CHECK_INT(daemon_severity(0), LOG_ERR);
		note_all(count, ATTACHMENT_FILE_REFUSED, "broken");
		CHECK_UINT(daemon_messages(), 1);
		note_all(count, ATTACHMENT_DEFERRED, "busy");
		CHECK_UINT(daemon_messages(), 2);
		CHECK_TEXT(daemon_message(1), cases[i / 2].deferred);
		for (size_t j = 0; j < count; j++)
			items[j]->single_step = true;
		attachments_log(items, count, "own");
		CHECK_UINT(daemon_messages(), pairs ? 4 : 3);
		CHECK_HAS(daemon_message(2), cases[i / 2].single_step);
		if (pairs)
			CHECK_HAS(daemon_message(3), cases[i / 2].single_step);
	}
}

/* Attachments that fail for different reasons have a message each. */
static void test_reasons(void)
{
	size_t count = make(4, false);

	CASE("reasons");
	attachment_note(items[0], ATTACHMENT_REFUSED, "one");
	attachment_note(items[1], ATTACHMENT_REFUSED, "another");
	attachment_note(items[2], ATTACHMENT_WAITS, "one");
	attachment_note(items[3], ATTACHMENT_REFUSED, "one");
	attachments_log(items, count, "own");
	CHECK_UINT(daemon_messages(), 3);
	CHECK_TEXT(daemon_message(0), "probe own: ignoring Function \"f0\" and 1 other: one");
	CHECK_TEXT(daemon_message(1), "probe own: ignoring Function \"f1\": another");
	CHECK_TEXT(daemon_message(2), "probe own: Function \"f2\" waits: one");
	CHECK_INT(daemon_severity(2), LOG_NOTICE);
}

/* Reports success only for what was reported as missing. */
static void test_attached(void)
{
	size_t count = make(3, true);

	CASE("attached at last");
	for (size_t i = 0; i < 4; i++)
		attachment_note(items[i], ATTACHMENT_DEFERRED, "busy");
	attachments_log(items, count, "own");
	for (size_t i = 0; i < count; i++)
		attachment_note_attached(items[i]);
	attachments_log(items, count, "own");
	CHECK_UINT(daemon_messages(), 2);
	CHECK_TEXT(daemon_message(1), "probe own: Function \"f0\" and 1 other are attached now");
	note_all(count, ATTACHMENT_DEFERRED, "busy");
	CHECK_UINT(daemon_messages(), 3);
}

int main(void)
{
	message_to(daemon_record);
	test_count();
	test_reasons();
	test_attached();
	daemon_clear();
	return testing_end();
}
