/* SPDX-License-Identifier: MIT */
/*
 * The rows of an array that cannot be mapped, such as one per CPU: all values are copied at each
 * reading; the values of CPUs lie like shards.
 */
#include "object/budget.h"
#include "rows.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t copied_memory(const struct rows *rows)
{
	uint64_t row = size_product(rows->cpus, rows->stride);

	return size_product(rows->count, size_sum(row, sizeof(uint32_t)));
}

/* The kernel may need several calls. */
static int copy_values(struct rows *rows, struct error *error)
{
	size_t row = rows->cpus * rows->stride;
	uint64_t batch = 0; /* opaque to us: start of the next batch */
	uint32_t done = 0;

	while (done < rows->count) {
		uint32_t count = rows->count - done;
		int status = bpf_map_lookup_batch(
			bpf_map__fd(rows->map), done ? &batch : NULL, &batch, rows->keys,
			(char *)rows->mapping.start + done * row, &count, NULL);

		done += status == 0 || status == -ENOENT ? count : 0;
		if (status == -ENOENT)
			break;
		if (status || count == 0)
			return error_set(error, status ?: -EIO, "map %s: cannot read its rows: %s",
					 bpf_map__name(rows->map),
					 strerror(status ? -status : EIO));
	}
	return 0;
}

static int copied_start(struct rows *rows, struct error *error)
{
	int status = mapping_make(&rows->mapping, rows->count * rows->cpus * rows->stride);

	rows->keys = calloc(rows->count, sizeof(uint32_t));
	if (status || !rows->keys)
		return error_set(error, -ENOMEM, "map %s: no memory for %u rows",
				 bpf_map__name(rows->map), rows->count);
	return copy_values(rows, error);
}

static int copied_each(struct rows *rows, row_visitor *visit, void *to, struct error *error)
{
	int status = copy_values(rows, error);

	for (uint32_t i = 0; i < rows->count && status == 0; i++) {
		struct source_row row = {
			.key = &i,
			.bytes = { rows_at(rows, i, 0), rows->cpus, rows->stride },
		};

		status = rows_give(rows, &row, visit, to, error);
	}
	return status;
}

const struct source source_copied = { .start = copied_start,
				      .each = copied_each,
				      .memory = copied_memory };
