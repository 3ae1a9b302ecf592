/* SPDX-License-Identifier: MIT */
/*
 * The rows of a mapped array: read where the kernel counts, and written if a column has the word
 * tail.
 */
#include "rows.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static int array_start(struct rows *rows, struct error *error)
{
	int protection = rows->is_written ? PROT_READ | PROT_WRITE : PROT_READ;
	int status = mapping_open(&rows->mapping, rows->map, protection);

	return status ? error_set(error, status, "map %s: cannot map its rows: %s",
				  bpf_map__name(rows->map), strerror(-status))
		      : 0;
}

static int array_each(struct rows *rows, row_visitor *visit, void *to, struct error *error)
{
	int status = 0;

	for (uint32_t i = 0; i < rows->count && status == 0; i++) {
		const struct source_row row = {
			.key = &i,
			.bytes = { rows_at(rows, i, 0), rows->shards, rows->stride },
			.cpu = -1,
		};

		status = visit(to, &row, error);
	}
	return status;
}

static uint64_t array_memory(__attribute__((unused)) const struct rows *rows)
{
	return 0;
}

const struct source source_array = { .start = array_start,
				     .each = array_each,
				     .memory = array_memory };
