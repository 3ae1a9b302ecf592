/* SPDX-License-Identifier: MIT */
/*
 * The rows of a hash, in batches of whole buckets of the kernel's hash table. A key that exists
 * throughout is read exactly once, because the kernel copies a bucket with its lock held. If a
 * bucket has more keys than fit in a batch, the batch becomes larger.
 */
#include "object/budget.h"
#include "rows.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_FIRST 256 /* keys */

static size_t hash_value_size(const struct rows *rows)
{
	return rows->cpus * rows->stride;
}

static uint32_t hash_first_batch(const struct rows *rows)
{
	return rows->count < BATCH_FIRST ? rows->count : BATCH_FIRST;
}

/* A bucket with more keys than that is not expected: the kernel has as many buckets as entries and
 * a hash seed of its own. */
static uint64_t hash_memory(const struct rows *rows)
{
	return size_product(hash_first_batch(rows),
			    size_sum(bpf_map__key_size(rows->map), hash_value_size(rows)));
}

static int hash_no_memory(const struct rows *rows, struct error *error)
{
	return error_set(error, -ENOMEM, "map %s: no memory for %u rows", bpf_map__name(rows->map),
			 rows->count);
}

static int hash_resize_batch(struct rows *rows, uint32_t count, struct error *error)
{
	void *keys = calloc(count, bpf_map__key_size(rows->map));
	void *values = calloc(count, hash_value_size(rows));

	if (!keys || !values) {
		free(keys);
		free(values);
		return hash_no_memory(rows, error);
	}
	free(rows->keys);
	free(rows->values);
	rows->keys = keys;
	rows->values = values;
	rows->batch = count;
	return 0;
}

static int hash_start(struct rows *rows, struct error *error)
{
	return hash_resize_batch(rows, hash_first_batch(rows), error);
}

/* Reads the next batch, in a larger buffer if the bucket does not fit. *ret_end: it is the last
 * one. */
static int read_next_batch(struct rows *rows, const uint64_t *after, uint64_t *ret_batch,
			   uint32_t *ret_count, bool *ret_is_last, struct error *error)
{
	for (;;) {
		uint32_t larger = 2 * rows->batch < rows->count ? 2 * rows->batch : rows->count;
		int status;

		*ret_count = rows->batch;
		status = bpf_map_lookup_batch(bpf_map__fd(rows->map), (void *)after, ret_batch,
					      rows->keys, rows->values, ret_count, NULL);
		*ret_is_last = status == -ENOENT;
		if (status == 0 || status == -ENOENT)
			return 0;
		if (status != -ENOSPC || larger == rows->batch)
			return error_set(error, status, "map %s: cannot read its rows: %s",
					 bpf_map__name(rows->map), strerror(-status));
		status = hash_resize_batch(rows, larger, error);
		if (status)
			return status;
	}
}

static int visit_batch(struct rows *rows, uint32_t count, row_visitor *visit, void *to,
		       struct error *error)
{
	int status = 0;

	for (uint32_t i = 0; i < count && status == 0; i++) {
		struct source_row row = {
			.key = rows->keys + (size_t)i * bpf_map__key_size(rows->map),
			.bytes = { rows->values + i * hash_value_size(rows), rows->cpus,
				   rows->stride },
		};

		status = rows_give(rows, &row, visit, to, error);
	}
	return status;
}

static int hash_each(struct rows *rows, row_visitor *visit, void *to, struct error *error)
{
	uint64_t batch[2] = { 0 }; /* opaque to us: start of this batch, start of the next */
	bool first = true, is_last = false;
	int status = 0;

	while (!is_last && status == 0) {
		uint32_t count = 0;

		status = read_next_batch(rows, first ? NULL : &batch[0], &batch[1], &count,
					 &is_last, error);
		status = status ?: visit_batch(rows, count, visit, to, error);
		batch[0] = batch[1];
		first = false;
	}
	return status;
}

const struct source source_hash = { .start = hash_start, .each = hash_each, .memory = hash_memory };
