/* SPDX-License-Identifier: MIT */
#ifndef READING_H
#define READING_H

#include "row.h"
#include "tests/unit/testing.h"

#include "plugin/table/table.h"
#include "plugin/util/clock.h"

#define S(seconds) ((seconds)*NS_PER_S)

static inline void read_at(struct table *table, const struct snapshot *snapshot, uint64_t now_ns)
{
	struct error error = { "" };

	CHECK_INT(table_read(table, snapshot, now_ns, &error), 0);
	CHECK_TEXT(error.text, "");
}

/* What a subject's cell has grown by, of one subject or row. */
static inline uint64_t window(const struct table *table, size_t subject, uint32_t cell)
{
	return table->accumulators.accumulator[subject].window[cell];
}

static inline uint64_t total(const struct table *table, size_t subject, uint32_t cell)
{
	return table->accumulators.accumulator[subject].total[cell];
}

static inline bool fed(const struct table *table, size_t subject)
{
	return subject < table->accumulators.count && table->accumulators.accumulator[subject].fed;
}

#endif
