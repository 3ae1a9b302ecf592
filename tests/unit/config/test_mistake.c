/* SPDX-License-Identifier: MIT */
/*
 * Messages about the configuration: the consequence, the line and the reason; how many more of a
 * kind there were; and the word that was probably meant.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/daemon.h"
#include "tests/unit/fake/oconfig.h"

#include "plugin/config/mistake.h"
#include "plugin/util/message.h"

static void test_words(void)
{
	oconfig_item_t *block = oconfig_read("Interval \"x\" 5 true\n<Probe \"a\">\n</Probe>");
	struct mistakes mistakes = { 0 };

	CASE("words");
	CHECK_INT(mistake_ignore(&mistakes, mistake_name("<Plugin ebpf>", &block->children[0]).text,
				 "it is %d", 7),
		  0);
	mistake_ignore(&mistakes, mistake_name(NULL, &block->children[1]).text, "it is there");
	mistake_note(&mistakes, mistake_name("<Plugin ebpf>", &block->children[0]).text,
		     "as it is");
	mistakes_end(&mistakes);
	CHECK_UINT(daemon_messages(), 3);
	CHECK_TEXT(daemon_message(0), "ignoring Interval \"x\" 5 true in <Plugin ebpf>: it is 7");
	CHECK_TEXT(daemon_message(1), "ignoring <Probe \"a\">: it is there");
	CHECK_TEXT(daemon_message(2), "using Interval \"x\" 5 true in <Plugin ebpf>: as it is");
	CHECK_INT(daemon_severity(1), LOG_ERR);
	CHECK_INT(daemon_severity(2), LOG_NOTICE);
	CHECK_UINT(mistakes.ignored, 2);
	oconfig_free(block);
	daemon_clear();
}

static void test_many(void)
{
	oconfig_item_t *block = oconfig_read("Interval 5\nRows 6");
	struct mistakes mistakes = { 0 };

	CASE("many of a kind");
	for (int i = 0; i < 1000; i++) {
		mistake_ignore(&mistakes, mistake_name("<x>", &block->children[0]).text, "it is %d",
			       i);
		mistake_note(&mistakes, mistake_name("<x>", &block->children[1]).text, "it is %d",
			     i);
	}
	mistake_ignore(&mistakes, mistake_name("<x>", &block->children[1]).text, "other");
	CHECK_UINT(daemon_messages(), 11);
	mistakes_end(&mistakes);
	CHECK_UINT(daemon_messages(), 13);
	CHECK_TEXT(daemon_message(11),
		   "ignoring 995 more like it, the last of them Interval 5 in <x>");
	CHECK_TEXT(daemon_message(12), "using 995 more like it, the last of them Rows 6 in <x>");
	CHECK_UINT(mistakes.ignored, 1001);
	oconfig_free(block);
	daemon_clear();
}

/* Reasons are texts of this program, but their number is not limited. */
static void test_many_kinds(void)
{
	oconfig_item_t *block = oconfig_read("Interval 5");
	char formats[2 * MISTAKE_KINDS_MAX][16];
	struct mistakes mistakes = { 0 };

	CASE("many kinds");
	for (int round = 0; round < 100; round++)
		for (size_t i = 0; i < COUNT_OF(formats); i++) {
			snprintf(formats[i], sizeof(formats[i]), "kind %zu%%s", i);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			mistake_ignore(&mistakes, mistake_name("<x>", &block->children[0]).text,
				       formats[i], "");
#pragma GCC diagnostic pop
		}
	mistakes_end(&mistakes);
	CHECK_INT(daemon_messages() <= 6 * MISTAKE_KINDS_MAX, 1);
	CHECK_UINT(mistakes.ignored, 100 * COUNT_OF(formats));
	oconfig_free(block);
	daemon_clear();
}

static void test_near(void)
{
	static const char *const words[] = { "Process", "ProcessMatch", "TopN", "HookSet", NULL };
	static const struct {
		const char *word, *want;
	} cases[] = {
		{ "Proces", "Process" },
		{ "Processes", "Process" },
		{ "process_match", "ProcessMatch" },
		{ "PROZESS", "Process" },
		{ "Top", "TopN" },
		{ "HokSet", "HookSet" },
		{ "Tear", NULL },
		{ "Tour", NULL },
		{ "Interval", NULL },
		{ "", NULL },
		{ "ProcessMatchProcessMatchProcessMatchProcessMatch", NULL },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const char *near = mistake_near(cases[i].word, words);

		CASE("near %s", cases[i].word);
		CHECK_TEXT(near ? near : "", cases[i].want ? cases[i].want : "");
	}
}

int main(void)
{
	message_to(daemon_record);
	daemon_clear();
	test_words();
	test_many();
	test_many_kinds();
	test_near();
	return testing_end();
}
