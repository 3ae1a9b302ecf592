/* SPDX-License-Identifier: MIT */
/*
 * Value lists that wait to be dispatched come out as they went in, in the same order.
 */
#include "tests/unit/testing.h"

#include "plugin/daemon/batch.h"

#define ITEMS 1000

static size_t seen;

/* Item i has names of up to i % 97 bytes and 1 to 8 values. */
static struct batch_item make(size_t i, char names[3][128], struct value *values)
{
	struct batch_item item = { names[0], names[1], names[2], values, 1 + i % 8, i % 3 == 0 };

	for (size_t n = 0; n < 3; n++) {
		size_t length = i * (n + 1) % 97;

		memset(names[n], 'a' + (int)(i % 26), length);
		names[n][length] = '\0';
	}
	for (size_t v = 0; v < item.count; v++)
		values[v] = (struct value){ .kind = SOURCE_DERIVE, .derive = (int64_t)(i + v) };
	return item;
}

static void check_item(void *to, const struct batch_item *item)
{
	struct value values[8];
	char names[3][128];
	struct batch_item want = make(seen++, names, values);

	CHECK_INT(to == &seen, true);
	CHECK_TEXT(item->subject, want.subject);
	CHECK_TEXT(item->type, want.type);
	CHECK_TEXT(item->instance, want.instance);
	CHECK_UINT(item->count, want.count);
	CHECK_INT(item->previous, want.previous);
	for (size_t v = 0; v < want.count; v++) {
		CHECK_INT(item->values[v].kind, SOURCE_DERIVE);
		CHECK_INT(item->values[v].derive, want.values[v].derive);
	}
}

int main(void)
{
	struct batch batch = { 0 };
	struct value values[8];
	char names[3][128];

	CASE("nothing");
	batch_each(&batch, check_item, &seen);
	CHECK_UINT(seen, 0);
	CASE("%d items", ITEMS);
	for (size_t i = 0; i < ITEMS; i++) {
		struct batch_item item = make(i, names, values);

		batch_add(&batch, &item);
	}
	CHECK_INT(batch.failed, false);
	CHECK_UINT(batch.series, ITEMS - (ITEMS + 2) / 3);
	batch_each(&batch, check_item, &seen);
	CHECK_UINT(seen, ITEMS);
	batch_done(&batch);
	batch_done(&batch);
	return testing_end();
}
