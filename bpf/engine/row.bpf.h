/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Rows of services: those of the configuration and those that are taken for keys: units, users,
 * containers, command names.
 */
#ifndef ENGINE_ROW_BPF_H
#define ENGINE_ROW_BPF_H

#include "service_group.bpf.h"

#define ROW_NONE ~0U             /* there should be one, but none is free */
#define ROW_NONE_GROUP (~0U - 1) /* likewise, of a unit or a container */

const volatile u32 reserve_begin = SERVICE_FIRST; /* from here on rows are of service_reserve */

/* Room is made before load: what the configuration and MaxServices ask for. */
MMAP_ARRAY(services, struct service, SERVICE_FIRST) SUBJECT("service");

QUEUE(service_free, u32, 1);

/* For units and containers alone. */
QUEUE(service_reserve, u32, 1);

struct service_counters service_counters;

static struct service *service_at(u32 row)
{
	return bpf_map_lookup_elem(&services, &row);
}

static void add_row_processes(u32 row, s64 n)
{
	struct service *s = service_at(row);

	if (s)
		__sync_fetch_and_add(&s->processes, n);
}

static bool row_is_none(u32 row)
{
	return row >= ROW_NONE_GROUP;
}

/* Whose row is given back is asked of its number. */
static void release_row(u32 row)
{
	if (row < reserve_begin)
		bpf_map_push_elem(&service_free, &row, 0);
	else
		bpf_map_push_elem(&service_reserve, &row, 0);
}

static bool pop_row(u32 kind, u32 *row)
{
	if (!service_is_anyones(kind) && bpf_map_pop_elem(&service_reserve, row) == 0)
		return true;
	return bpf_map_pop_elem(&service_free, row) == 0;
}

/* Takes a free row for a key, or ROW_NONE. */
static u32 claim_row(const struct group_key *key)
{
	struct service_name name = { .fitted = 1 }, *known;
	struct service *s;
	u32 row;

	if (!pop_row(key->kind, &row))
		return ROW_NONE;
	s = service_at(row);
	if (!s)
		return ROW_NONE;
	s->key = *key;
	name.row = row;
	if (bpf_map_update_elem(&service_names, key, &name, BPF_NOEXIST) == 0) {
		/* A full barrier: the engine reads the key behind the flag. */
		__sync_lock_test_and_set(&s->flags, SERVICE_USED);
		return row;
	}
	release_row(row);
	known = bpf_map_lookup_elem(&service_names, key);
	return known ? known->row : ROW_NONE;
}

#endif
