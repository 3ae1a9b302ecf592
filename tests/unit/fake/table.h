/* SPDX-License-Identifier: MIT */
/*
 * Reads a table of row_table() and says what its accumulators have.
 */
#ifndef FAKE_TABLE_H
#define FAKE_TABLE_H

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

/* Whether the last reading has values of the subject. */
static inline bool fed(const struct table *table, size_t subject)
{
	return subject < table->accumulators.count && table->accumulators.accumulator[subject].fed;
}

/* Whether the subject takes memory. */
static inline bool has_cells(const struct table *table, size_t subject)
{
	return subject < table->accumulators.count &&
	       table->accumulators.accumulator[subject].total != NULL;
}

/* Growth of a subject's cell between the last two readings; of a table of a probe, the subject
 * is the row. */
static inline uint64_t window(const struct table *table, size_t subject, uint32_t cell)
{
	return table->accumulators.accumulator[subject].window[cell];
}

/* Its growth since the first reading. */
static inline uint64_t total(const struct table *table, size_t subject, uint32_t cell)
{
	return table->accumulators.accumulator[subject].total[cell];
}

#endif
