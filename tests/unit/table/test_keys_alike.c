/* SPDX-License-Identifier: MIT */
/*
 * plugin/table/key_text.c: keys whose names receivers would take for one.
 */
#include "tests/unit/fake/keys.h"

#include "plugin/table/key_text.h"

/* A text of up to four bytes as a number. */
static uint32_t letters(const char *text)
{
	uint32_t number = 0;

	memcpy(&number, text, strnlen(text, sizeof(number)));
	return number;
}

static void fixture_of_texts(struct fixture *f, int subject)
{
	struct labels labels = labels_none(sizeof(struct key), subject);

	fixture_init(f, false, 8);
	labels_add(&labels, text_label(subject < 0 ? "string" : "device", 4, 4));
	row_table_labels(&f->table, &labels);
}

/* Texts that receivers would take for one have series of their own. The one that is its name keeps it, whether it was
 * first or not; else the first one does. */
static void test_alike(void)
{
	static const struct {
		const char *texts[3], *want;
	} cases[] = {
		{ { "a_b", "a.b", "a;b" },
		  "probe/a_b=1 probe/a.b+79dda0c5=2 probe/a_b+e0384730=3" },
		{ { "a.b", "a_b", "a-b" },
		  "probe/a.b+79dda0c5=1 probe/a_b=2 probe/a_b+7667369a=3" },
		{ { "a;b", "a b", "a_b" },
		  "probe/a_b+e0384730=1 probe/a_b+aaf92017=2 probe/a_b=3" },
		{ { "a;b", "a b", "a b" }, "probe/a_b=1 probe/a_b+aaf92017=3" },
		{ { "a b", "A_b", "a:b" }, "probe/a_b=1 probe/A_b=2 probe/a:b=3" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct error error = { "" };
		bool any = strchr(cases[i].want, '+');
		struct fixture f;

		CASE("texts, case %zu", i);
		fixture_of_texts(&f, NO_LABEL);
		for (uint32_t k = 0; k < 3; k++)
			set(0, letters(cases[i].texts[k]), k + 1);
		read_after(&f, 1);
		CHECK_TEXT(dispatched(&f), cases[i].want);
		CHECK_INT(keys_alike(&f.table, &error), any);
		CHECK_INT(keys_alike(&f.table, &error), false);
		CHECK_HAS(error.text, any ? "would have one series \"a" : "");
		CASE("and again, case %zu", i);
		read_after(&f, 1);
		CHECK_TEXT(dispatched(&f), cases[i].want);
		fixture_done(&f);
	}
}

/* Two tables meet two devices in another order, and call them the same. */
static void test_alike_subjects(void)
{
	static const char *const orders[][2] = { { "a.1", "a_1" }, { "a_1", "a.1" } };

	for (size_t i = 0; i < COUNT_OF(orders); i++) {
		struct fixture f;

		CASE("%s before %s", orders[i][0], orders[i][1]);
		fixture_of_texts(&f, 0);
		set(0, letters(orders[i][0]), 5);
		read_after(&f, 1);
		set(0, letters(orders[i][1]), 5);
		read_after(&f, 1);
		CHECK_HAS(dispatched(&f), "a.1+0466df36/=5");
		CHECK_HAS(dispatched(&f), "a_1/=5");
		CASE("a counter continues");
		set(0, letters("a.1"), 7);
		read_after(&f, 1);
		CHECK_HAS(dispatched(&f), "a.1+0466df36/=7");
		CHECK_HAS(dispatched(&f), "a_1/=5");
		fixture_done(&f);
	}
}

/* The chosen digits of another one's second choice do not make two names one. */
static void test_alike_chain(void)
{
	struct labels labels = labels_none(sizeof(struct key), NO_LABEL);
	struct fixture f;

	CASE("many");
	fixture_init(&f, false, 32);
	labels_add(&labels, text_label("string", 4, 4));
	row_table_labels(&f.table, &labels);
	for (char c = '!'; c < '0'; c++) {
		const char text[] = { 'a', c, 'b', '\0' };

		set(0, letters(text), 1);
	}
	read_after(&f, 1);
	for (size_t i = 0; i < f.table.keys.name_count; i++)
		for (size_t k = 0; k < i; k++)
			CHECK_INT(key_text_is_same(&f.table.keys.name[i], &f.table.keys.name[k]),
				  false);
	CHECK_UINT(f.table.keys.name_count, '0' - '!');
	fixture_done(&f);
}

int main(void)
{
	test_alike();
	test_alike_subjects();
	test_alike_chain();
	return testing_end();
}
