/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Rows of services: those of the configuration and those that command names take.
 */
#ifndef ENGINE_ROW_BPF_H
#define ENGINE_ROW_BPF_H

#include "service.bpf.h"

#define ROW_NONE ~0U /* there should be one, but none is free */

/* Room is made before load: what the configuration and MaxServices ask for. */
MMAP_ARRAY(services, struct service, SERVICE_FIRST) SUBJECT("service");

HASH(service_names, struct service_name, u32, 1);

QUEUE(service_free, u32, 1);

struct service_counters service_counters;

static struct service *service_at(u32 row)
{
	return bpf_map_lookup_elem(&services, &row);
}

static void count_processes(u32 row, s64 n)
{
	struct service *s = service_at(row);

	if (s)
		__sync_fetch_and_add(&s->processes, n);
}

/* Takes a free row for a command name, or ROW_NONE. */
static u32 take_row(const struct service_name *name)
{
	struct service *s;
	u32 row, *known;

	if (bpf_map_pop_elem(&service_free, &row))
		return ROW_NONE;
	s = service_at(row);
	if (!s)
		return ROW_NONE;
	__builtin_memcpy(s->name, name->text, sizeof(s->name));
	if (bpf_map_update_elem(&service_names, name, &row, BPF_NOEXIST) == 0) {
		/* A full barrier: the engine reads the name behind the flag. */
		__sync_lock_test_and_set(&s->flags, SERVICE_USED);
		return row;
	}
	bpf_map_push_elem(&service_free, &row, 0);
	known = bpf_map_lookup_elem(&service_names, name);
	return known ? *known : ROW_NONE;
}

#endif
