/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Rows of services: configured ones, and those that units, users, containers and command names
 * claim by their keys.
 */
#ifndef ENGINE_ROW_BPF_H
#define ENGINE_ROW_BPF_H

#include "services/service_group.bpf.h"

#define ROW_NONE ~0U             /* there should be a row, but none is free */
#define ROW_NONE_GROUP (~0U - 1) /* likewise, for a unit or a container */

const volatile u32 reserve_begin = SERVICE_FIRST; /* rows from here on belong to service_reserve */

/* Sized before load: configured services and MaxServices. */
MMAP_ARRAY(services, struct service, SERVICE_FIRST) SUBJECT("service");

QUEUE(service_free, u32, 1);

/* Rows for units and containers only. */
QUEUE(service_reserve, u32, 1);

struct service_counters service_counters;

static struct service *service_at(u32 row)
{
	return bpf_map_lookup_elem(&services, &row);
}

static void add_row_processes(u32 row, s64 n)
{
	struct service *s = service_at(row);

	if (s && __sync_fetch_and_add(&s->processes, n) == 0)
		s->began_ns = bpf_ktime_get_boot_ns();
}

static bool row_is_none(u32 row)
{
	return row >= ROW_NONE_GROUP;
}

/* The queue follows from the row's number. */
static void release_row(u32 row)
{
	if (row < reserve_begin)
		bpf_map_push_elem(&service_free, &row, 0);
	else
		bpf_map_push_elem(&service_reserve, &row, 0);
}

static bool pop_row(u32 kind, u32 *row)
{
	if (!service_is_user_controlled(kind) && bpf_map_pop_elem(&service_reserve, row) == 0)
		return true;
	return bpf_map_pop_elem(&service_free, row) == 0;
}

/* Claims a free row for a key; ROW_NONE: there is none. */
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
		/* A full barrier: the engine reads the flag before the key. */
		__sync_lock_test_and_set(&s->flags, SERVICE_USED);
		return row;
	}
	release_row(row);
	known = bpf_map_lookup_elem(&service_names, key);
	return known ? known->row : ROW_NONE;
}

#endif
