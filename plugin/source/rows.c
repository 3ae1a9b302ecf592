/* SPDX-License-Identifier: MIT */
/*
 * The rows of a map: one per number or key, or one per slot, which the kernel gives to a service or
 * process when it first counts for it.
 */
#include "rows.h"

#include "object/budget.h"
#include "service/lifecycle.h"

#include "bpf/lib/services/service.h"
#include "bpf/lib/services/slot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

uint32_t rows_shards(int cpus)
{
	uint32_t shards = 1;

	while ((int)shards < cpus && shards < ROWS_SHARDS_MAX)
		shards *= 2;
	return shards;
}

static bool is_mapped_array(const struct bpf_map *map)
{
	return bpf_map__type(map) == BPF_MAP_TYPE_ARRAY && bpf_map__map_flags(map) & BPF_F_MMAPABLE;
}

static int resize_map(struct bpf_map *map, uint32_t count, struct error *error)
{
	int status = bpf_map__set_max_entries(map, count);

	return status ? error_set(error, status, "map %s: cannot set its size: %s",
				  bpf_map__name(map), strerror(-status))
		      : 0;
}

static bool has_map(const struct rows *rows, const struct bpf_map *map)
{
	return map && (map == rows->map || map == rows->via.map || map == rows->owners.map);
}

bool rows_have_common_map(const struct rows *rows, const struct rows *other)
{
	return has_map(rows, other->map) || has_map(rows, other->via.map) ||
	       has_map(rows, other->owners.map);
}

static int numbers_resize(const struct rows *rows, struct numbers *numbers,
			  struct bpf_object *object, const char *name, uint32_t count,
			  struct error *error)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);

	if (has_map(rows, map))
		return error_set(error, -EINVAL, "map %s: a table needs maps of its own", name);

	/* libbpf keeps a copy of variables and would assume that it has the size that is set
	 * here. */
	if (!map || bpf_map__is_internal(map) || !is_mapped_array(map) ||
	    bpf_map__value_size(map) != sizeof(uint32_t))
		return error_set(error, -EINVAL,
				 "map %s: via and owners need an array of u32 with "
				 "BPF_F_MMAPABLE",
				 name);
	numbers->map = map;
	return resize_map(map, count, error);
}

static bool needs_grant(const struct subject_tag *subject, const struct row_counts *counts)
{
	return counts->by_grant && subject->via[0] && subject->kind == SUBJECT_SERVICE;
}

/* The number of subjects of the rows' kind. */
static uint32_t count_subjects(const struct bpf_map *map, const struct subject_tag *subject,
			       const struct row_counts *counts)
{
	switch (subject->kind) {
	case SUBJECT_SERVICE:
		return counts->services;
	case SUBJECT_PROCESS:
		return counts->processes;
	default:
		return bpf_map__max_entries(map);
	}
}

static uint32_t count_table_rows(const struct bpf_map *map, const struct subject_tag *subject,
				 const struct row_counts *counts)
{
	uint32_t count = count_subjects(map, subject, counts), slots = counts->slots;

	if (needs_grant(subject, counts))
		slots += (uint32_t)counts->config->service_count;
	return subject->via[0] && slots < count ? slots : count;
}

/* Refuses words of the SUBJECT tag that do not fit the type of map. */
static int check_map_type(const struct bpf_map *map, const struct subject_tag *subject,
			  struct error *error)
{
	const char *name = bpf_map__name(map);

	if (!source_of(map))
		return error_set(
			error, -EINVAL,
			"map %s: its type has no rows that can be read; an array and a hash have "
			"some, per CPU or not",
			name);
	if (!subject->is_described && source_of(map) == &source_copied && !source_is_percpu(map))
		return error_set(error, -EINVAL,
				 "map %s: METRIC tags need an array with BPF_F_MMAPABLE, a per-CPU "
				 "array or a hash",
				 name);
	if ((subject->sharded || subject->via[0]) && source_of(map) != &source_array)
		return error_set(error, -EINVAL,
				 "map %s: sharded and via need an array with BPF_F_MMAPABLE", name);
	if (subject->cpu && !source_is_percpu(map))
		return error_set(error, -EINVAL, "map %s: cpu needs a per-CPU array or hash", name);
	if (source_of(map) == &source_hash && subject->kind != SUBJECT_KEY)
		return error_set(error, -EINVAL, "map %s: rows of a hash need SUBJECT(\"key\")",
				 name);
	return 0;
}

/* Of a hash that an object without our tags sizes, at most ROWS_MAX keys are read. */
static uint32_t read_at_most(const struct bpf_map *map, const struct subject_tag *subject,
			     uint32_t count)
{
	return subject->is_described && source_of(map) == &source_hash && count > ROWS_MAX
		       ? ROWS_MAX
		       : count;
}

int rows_resize(struct rows *rows, struct bpf_map *map, const struct subject_tag *subject,
		const struct row_counts *counts, struct bpf_object *object, struct error *error)
{
	int status = check_map_type(map, subject, error);

	if (status == 0 && subject->entries)
		status = resize_map(map, subject->entries, error);
	if (status)
		return status;
	*rows = (struct rows){ .map = map, .source = source_of(map) };
	rows->cpus = source_is_percpu(map) ? (uint32_t)libbpf_num_possible_cpus() : 1;
	rows->shards = subject->sharded ? counts->shards : rows->cpus;
	rows->stride = source_stride(map);
	rows->each_cpu = subject->cpu;
	rows->count = read_at_most(map, subject, count_table_rows(map, subject, counts));
	rows->by_grant = needs_grant(subject, counts);
	if (rows->by_grant) {
		rows->reserved = 1 + (uint32_t)counts->config->service_count;
		rows->user_first = rows->reserved +
				   lifecycle_reserved(counts->config, rows->count - rows->reserved);
	}
	if (rows->count > ROWS_MAX)
		return error_set(error, -E2BIG,
				 "map %s: it has %u rows, and a table has %d at most; lower its %s",
				 bpf_map__name(map), rows->count, ROWS_MAX,
				 subject->is_described ? "size by Entries in its Table block"
						       : "max_entries");
	if (subject->via[0])
		status = numbers_resize(rows, &rows->via, object, subject->via,
					count_subjects(map, subject, counts), error);
	if (subject->via[0] && status == 0)
		status = numbers_resize(rows, &rows->owners, object, subject->owners, rows->count,
					error);
	if (status || subject->is_described)
		return status;
	return resize_map(map, rows->count * (subject->sharded ? rows->shards : 1), error);
}

uint32_t rows_most(const struct rows *rows)
{
	uint64_t most = (uint64_t)rows->count * (rows->each_cpu ? rows->cpus : 1);

	return most < ROWS_MAX ? (uint32_t)most : ROWS_MAX;
}

bool rows_stay(const struct rows *rows)
{
	return rows->source == &source_array || rows->source == &source_copied;
}

static int map_entries(const struct bpf_map *map, int protection, struct mapping *ret_mapping,
		       struct error *error)
{
	int status = mapping_open(ret_mapping, map, protection);

	return status ? error_set(error, status, "map %s: cannot map its rows: %s",
				  bpf_map__name(map), strerror(-status))
		      : 0;
}

static int numbers_start(struct numbers *numbers, struct error *error)
{
	return numbers->map
		       ? map_entries(numbers->map, PROT_READ | PROT_WRITE, &numbers->mapping, error)
		       : 0;
}

static const struct source *source(const struct rows *rows)
{
	return rows->source ?: &source_array;
}

int rows_start(struct rows *rows, struct error *error)
{
	int status = source(rows)->start(rows, error);

	status = status ?: numbers_start(&rows->via, error);
	return status ?: numbers_start(&rows->owners, error);
}

uint64_t rows_memory(const struct rows *rows)
{
	return source(rows)->memory(rows);
}

int rows_each(struct rows *rows, row_visitor *visit, void *to, struct error *error)
{
	return source(rows)->each(rows, visit, to, error);
}

static bool is_zero_row(const struct row_bytes *bytes)
{
	const uint64_t *word = (const uint64_t *)bytes->at;

	for (size_t i = 0; i < bytes->stride / sizeof(*word); i++)
		if (word[i])
			return false;
	return true;
}

int rows_give(const struct rows *rows, struct source_row *row, row_visitor *visit, void *to,
	      struct error *error)
{
	int status = 0;

	row->cpu = -1;
	if (!rows->each_cpu)
		return visit(to, row, error);
	row->bytes.parts = 1;
	for (row->cpu = 0; row->cpu < (int)rows->cpus && status == 0; row->cpu++) {
		if (!is_zero_row(&row->bytes))
			status = visit(to, row, error);
		row->bytes.at += row->bytes.stride;
	}
	return status;
}

const unsigned char *rows_at(const struct rows *rows, uint32_t row, uint32_t shard)
{
	return (const unsigned char *)rows->mapping.start +
	       ((size_t)row * rows->shards + shard) * rows->stride;
}

void rows_write(const struct rows *rows, uint32_t row, uint32_t offset, uint64_t value)
{
	uint64_t *at = (uint64_t *)(rows_at(rows, row, 0) + offset);

	__atomic_store_n(at, value, __ATOMIC_RELAXED);
}

/* Entries of array maps are at least 8 bytes apart. */
static uint32_t *number_in(const struct numbers *numbers, uint32_t i)
{
	return (uint32_t *)((uint64_t *)numbers->mapping.start + i);
}

uint32_t rows_slot(const struct rows *rows, uint32_t owner)
{
	uint32_t slot = __atomic_load_n(number_in(&rows->via, owner), __ATOMIC_ACQUIRE);

	return slot < rows->count ? slot : 0;
}

void rows_close_slot(struct rows *rows, uint32_t owner)
{
	__atomic_store_n(number_in(&rows->via, owner), 0, __ATOMIC_SEQ_CST);
}

void rows_ask_again(struct rows *rows)
{
	__atomic_fetch_add(number_in(&rows->owners, 0), 1, __ATOMIC_RELEASE);
}

/* The counter of freed slots is raised last: a program that sees it finds the slot free. */
void rows_free_slot(struct rows *rows, uint32_t slot)
{
	__atomic_store_n(number_in(&rows->owners, slot), 0, __ATOMIC_RELEASE);
	rows_ask_again(rows);
}

bool rows_is_reserved(const struct rows *rows, uint32_t owner)
{
	return owner >= SERVICE_FIRST && owner - SERVICE_FIRST + 1 < rows->reserved;
}

static uint32_t grant_word(bool is_group)
{
	return is_group ? SLOT_NONE | SLOT_GROUP : SLOT_NONE;
}

bool rows_grant(struct rows *rows, uint32_t owner, bool is_group)
{
	uint32_t none = 0;

	return __atomic_compare_exchange_n(number_in(&rows->via, owner), &none,
					   grant_word(is_group), false, __ATOMIC_RELEASE,
					   __ATOMIC_RELAXED);
}

bool rows_is_refused(const struct rows *rows, uint32_t owner)
{
	uint32_t word = __atomic_load_n(number_in(&rows->via, owner), __ATOMIC_RELAXED);

	return word & SLOT_NONE && word & SLOT_REFUSED;
}

uint32_t rows_owner(const struct rows *rows, uint32_t slot)
{
	uint32_t owner = __atomic_load_n(number_in(&rows->owners, slot), __ATOMIC_ACQUIRE);

	return owner ? (owner & ~SLOT_CLOSED) - 1 : 0;
}

/* A program that looks up the slot between the two stores counts in it for the last time. */
void rows_return_slot(struct rows *rows, uint32_t slot, uint32_t owner, bool is_group)
{
	__atomic_store_n(number_in(&rows->via, owner), grant_word(is_group), __ATOMIC_SEQ_CST);
	__atomic_store_n(number_in(&rows->owners, slot), SLOT_CLOSED | (owner + 1),
			 __ATOMIC_SEQ_CST);
}

uint32_t rows_closed_by(const struct rows *rows, uint32_t slot)
{
	uint32_t owner = __atomic_load_n(number_in(&rows->owners, slot), __ATOMIC_ACQUIRE);

	return owner & SLOT_CLOSED ? rows_owner(rows, slot) : 0;
}

void rows_forget_refusal(struct rows *rows, uint32_t owner)
{
	uint32_t *has = number_in(&rows->via, owner);
	uint32_t refusal = __atomic_load_n(has, __ATOMIC_RELAXED);

	if (refusal >= rows->count)
		__atomic_compare_exchange_n(has, &refusal, 0, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
}

uint32_t rows_slots_used(const struct rows *rows)
{
	uint32_t used = 0;

	for (uint32_t slot = 1; slot < rows->count; slot++)
		used += __atomic_load_n(number_in(&rows->owners, slot), __ATOMIC_RELAXED) != 0;
	return used;
}

void rows_done(struct rows *rows)
{
	if (source(rows)->done)
		source(rows)->done(rows);
	mapping_done(&rows->mapping);
	mapping_done(&rows->via.mapping);
	mapping_done(&rows->owners.mapping);
	free(rows->keys);
	free(rows->values);
	*rows = (struct rows){ 0 };
}
