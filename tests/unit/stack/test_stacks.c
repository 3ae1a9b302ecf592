/* SPDX-License-Identifier: MIT */
/*
 * Numbers of stacks and texts: each is stored once, within limits.
 */
#include "tests/unit/testing.h"

#include "plugin/stack/stacks.h"
#include "plugin/stack/texts.h"

#include <errno.h>
#include <stdio.h>

static void test_sums(void)
{
	static const uint32_t frames[] = { 1, 2, 3 };
	struct stacks_key key = { .view = 1, .service = 2, .comm = "worker" }, other = key;
	struct stacks stacks = { 0 };

	CHECK_INT(stacks_init(&stacks), 0);
	CHECK_INT(stacks_add(&stacks, &key, frames, 3, 5), 0);
	CHECK_INT(stacks_add(&stacks, &key, frames, 3, 6), 0);
	CHECK_INT(stacks_add(&stacks, &key, frames, 2, 7), 0);
	CHECK_INT(stacks_add(&stacks, &key, NULL, 0, 8), 0);
	CHECK_INT(stacks_add(&stacks, &key, NULL, 0, UINT64_MAX), 0);
	other.view = 3;
	CHECK_INT(stacks_add(&stacks, &other, frames, 3, 9), 0);
	CHECK_UINT(stacks.count, 4);
	CHECK_UINT(stacks.entry[0].value, 11);
	CHECK_UINT(stacks.entry[1].value, 7);
	CHECK_UINT(stacks.entry[2].value, UINT64_MAX);
	CHECK_UINT(stacks.word[stacks.entry[3].begin + 2], 3);
	CASE("one view less");
	stacks_drop(&stacks, 1);
	CHECK_UINT(stacks.entry[0].value, 0);
	CHECK_UINT(stacks.entry[3].value, 9);
	CHECK_INT(stacks_add(&stacks, &key, frames, 3, 4), 0);
	CHECK_UINT(stacks.entry[0].value, 4);
	CASE("none");
	stacks_clear(&stacks);
	CHECK_INT(stacks_add(&stacks, &key, frames, 3, 1), 0);
	CHECK_UINT(stacks.count, 1);
	stacks_done(&stacks);
}

static void test_room(void)
{
	struct stacks_key key = { .view = 0 };
	struct stacks stacks = { 0 };
	static uint32_t frames[200];
	unsigned added = 0;

	CHECK_INT(stacks_init(&stacks), 0);
	while (added < STACKS_MAX + 10) {
		frames[0] = added;
		if (stacks_add(&stacks, &key, frames, 200, 1))
			break;
		added++;
	}
	CASE("words");
	CHECK_UINT(added, STACKS_WORDS_MAX / 200);
	CHECK_INT(stacks_add(&stacks, &key, frames, 200, 1), -ENOSPC);
	frames[0] = 0;
	CHECK_INT(stacks_add(&stacks, &key, frames, 200, 1), 0);
	CASE("stacks");
	stacks_clear(&stacks);
	for (frames[0] = 0; frames[0] < STACKS_MAX; frames[0]++)
		if (stacks_add(&stacks, &key, frames, 1, 1))
			break;
	CHECK_UINT(frames[0], STACKS_MAX);
	CHECK_INT(stacks_add(&stacks, &key, frames, 1, 1), -ENOSPC);
	stacks_done(&stacks);
}

static void test_texts(void)
{
	struct texts texts = { 0 };
	char text[32];
	uint32_t i;

	CHECK_INT(texts_init(&texts), 0);
	CHECK_UINT(texts_number(&texts, "web"), 0);
	CHECK_UINT(texts_number(&texts, "db"), 1);
	CHECK_UINT(texts_number(&texts, "web"), 0);
	CHECK_TEXT(texts.text[1], "db");
	for (i = 2; i <= TEXTS_MAX; i++) {
		snprintf(text, sizeof(text), "service%u", i);
		if (texts_number(&texts, text) != i)
			break;
	}
	CHECK_UINT(i, TEXTS_MAX);
	CHECK_UINT(texts_number(&texts, "web"), 0);
	texts_clear(&texts);
	CHECK_UINT(texts_number(&texts, "db"), 0);
	texts_done(&texts);
}

int main(void)
{
	test_sums();
	test_room();
	test_texts();
	return testing_end();
}
