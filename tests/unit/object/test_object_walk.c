/* SPDX-License-Identifier: MIT */
/*
 * The records of an iterator, which are read in parts, and iterators that are not always run. The
 * iterators are played.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/walks.h"

#include "plugin/util/message.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS 1300
#define STACK_SIZE (256 * 1024)
#define UNTOUCHED 0xa5

/* Its size divides no power of two, so that parts end within a record. */
struct numbered {
	uint32_t number;
	char more[44];
};

static uint32_t count, in_order;

static void count_record(__attribute__((unused)) void *to, const void *record)
{
	const struct numbered *numbered = record;

	in_order += numbered->number == count++;
}

static void *walk_records(void *context)
{
	struct error error = { "" };

	CHECK_INT(object_walk(context, sizeof(struct numbered), count_record, NULL, &error), 0);
	CHECK_TEXT(error.text, "");
	return NULL;
}

/* Runs a function in a thread; returns how much of its stack is used. */
static size_t run_on_stack(void *(*run)(void *context), void *context)
{
	unsigned char *stack = aligned_alloc(4096, STACK_SIZE);
	size_t unused = 0;
	pthread_attr_t attributes;
	pthread_t thread;

	if (!stack)
		abort();
	memset(stack, UNTOUCHED, STACK_SIZE);
	pthread_attr_init(&attributes);
	CHECK_INT(pthread_attr_setstack(&attributes, stack, STACK_SIZE), 0);
	CHECK_INT(pthread_create(&thread, &attributes, run, context), 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
	while (unused < STACK_SIZE && stack[unused] == UNTOUCHED)
		unused++;
	free(stack);
	return STACK_SIZE - unused;
}

static void count_walks(struct object *object, unsigned want)
{
	unsigned before = maps_walks;
	struct error error = { "" };

	CHECK_INT(object_walk(object, 0, NULL, NULL, &error), 0);
	CHECK_UINT(maps_walks - before, want);
}

static uint32_t when;

static void set_when(void)
{
	when = 1;
}

static void test_when(void)
{
	struct object object = { 0 };
	struct reading_walk *walks = object_walked_by(&object, 2);

	maps_iterate(NULL, 0);
	object_walk_when(&object, &when);
	CASE("WHEN, the variable is 0");
	count_walks(&object, 1);
	CASE("WHEN, it is not");
	when = 1;
	count_walks(&object, 2);
	CASE("WHEN, another iterator, behind it in the object, sets it");
	when = 0;
	maps_on_walk = set_when;
	count_walks(&object, 2);
	maps_on_walk = NULL;
	object_walks_forget(&object, walks);
}

int main(void)
{
	static struct numbered records[RECORDS];
	struct object object = { 0 };
	struct reading_walk *walks = object_walked_by(&object, 1);

	for (uint32_t i = 0; i < RECORDS; i++)
		records[i].number = i;
	maps_iterate(records, sizeof(records));
	CASE("%d records", RECORDS);
	/* Some C libraries give a thread 128 KiB. */
	CHECK_INT(run_on_stack(walk_records, &object) < 32 * 1024, 1);
	CHECK_UINT(count, RECORDS);
	CHECK_UINT(in_order, RECORDS);
	object_walks_forget(&object, walks);
	test_when();
	return testing_end();
}
