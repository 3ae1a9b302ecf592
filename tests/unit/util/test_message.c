/* SPDX-License-Identifier: MIT */
/*
 * Errors and messages: texts that are too long are cut, and nothing happens without a sink.
 */
#include "tests/unit/testing.h"

#include "plugin/util/message.h"

#include <errno.h>

static int severity_seen;
static char text_seen[4096];
static unsigned messages_seen;

static void record(int severity, const char *text)
{
	severity_seen = severity;
	messages_seen++;
	snprintf(text_seen, sizeof(text_seen), "%s", text);
}

static void test_error(void)
{
	char long_text[3000];
	struct error error;

	CASE("error");
	CHECK_INT(error_set(&error, -ENOENT, "map %s: %d", "rows", 3), -ENOENT);
	CHECK_TEXT(error.text, "map rows: 3");
	memset(long_text, 'x', sizeof(long_text));
	long_text[sizeof(long_text) - 1] = '\0';
	CHECK_INT(error_set(&error, -EINVAL, "%s", long_text), -EINVAL);
	CHECK_UINT(strlen(error.text), sizeof(error.text) - 1);
}

static void test_message(void)
{
	char long_text[3000];

	CASE("no sink");
	message(LOG_ERR, "nobody hears %s", "this");
	CHECK_UINT(messages_seen, 0);
	CASE("a sink");
	message_to(record);
	message(LOG_NOTICE, "probe %s is on", "process");
	CHECK_UINT(messages_seen, 1);
	CHECK_INT(severity_seen, LOG_NOTICE);
	CHECK_TEXT(text_seen, "probe process is on");
	CASE("a long one");
	memset(long_text, 'x', sizeof(long_text));
	long_text[sizeof(long_text) - 1] = '\0';
	message(LOG_ERR, "%s", long_text);
	CHECK_UINT(strlen(text_seen), 2047);
	CASE("no sink any more");
	message_to(NULL);
	message(LOG_ERR, "nobody hears this either");
	CHECK_UINT(messages_seen, 2);
}

int main(void)
{
	test_error();
	test_message();
	return testing_end();
}
