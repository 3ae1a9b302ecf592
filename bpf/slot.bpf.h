/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Rows that are given out on first use, for tables whose rows are large: a
 * service without events has none. Row 0 is where the events of all go that
 * came when no row was free. The engine takes the row of a service back when
 * the service is gone.
 */
#ifndef SLOT_BPF_H
#define SLOT_BPF_H

#include "service.bpf.h"

#define SLOTS_END 1024

const volatile u32 slots_max = 1; /* rows of the table, set before load */
const volatile u32 shards = 1;    /* of each row, a power of two, set before load */

u64 refused;

struct slot_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
};

/* By row of the service: its slot, 0: none yet. */
struct slot_map row_slots SEC(".maps");

/* By slot: the row that has it, and one; 0: free. */
struct slot_map slot_owners SEC(".maps");

/* Tries to give slot i to the service; true: it has one now, this or another. */
static __noinline bool slot_try(void *slots, void *owners, u32 i, u32 row)
{
	u32 *owner = bpf_map_lookup_elem(owners, &i);
	u32 *slot = bpf_map_lookup_elem(slots, &row);

	if (!owner || !slot || *owner || __sync_val_compare_and_swap(owner, 0, row + 1))
		return false;
	if (__sync_val_compare_and_swap(slot, 0, i))
		__sync_lock_test_and_set(owner, 0);
	return true;
}

/* The slot of a service, 0: none yet, or that of all others. */
static __always_inline u32 slot_find(void *slots, u32 row)
{
	u32 *slot = row == SERVICE_OTHER ? NULL : bpf_map_lookup_elem(slots, &row);

	return slot ? *slot : 0;
}

/* The slot of a service, taken if it has none; two CPUs may ask at once. */
static __always_inline u32 slot_take_from(void *slots, void *owners, u32 row)
{
	u32 *slot = bpf_map_lookup_elem(slots, &row);

	if (!slot || row == SERVICE_OTHER || *slot)
		return slot ? *slot : 0;
	for (u32 i = 1; i < SLOTS_END; i++) {
		if (i >= slots_max)
			break;
		if (slot_try(slots, owners, i, row))
			return *slot;
	}
	add(&refused, 1);
	return 0;
}

__noinline u32 slot_take(u32 row)
{
	return slot_take_from(&row_slots, &slot_owners, row);
}

/* Not given to another service since; the one for all is everybody's. */
static __always_inline bool slot_is_of(void *owners, u32 slot, u32 row)
{
	u32 *owner = bpf_map_lookup_elem(owners, &slot);

	return slot == 0 || (owner && *owner == row + 1);
}

/* What a socket or a thread remembers of its service. */
struct claim {
	u64 asked; /* when service_moves was one less, 0: never */
	u32 row;
	u32 slot;
	bool watched; /* somebody wants to know its events */
};

/* The service may be another one now, or have lost its slot. */
static __always_inline bool claim_is_old(const struct claim *c, void *owners)
{
	u64 *moves = service_moves_at();

	return !moves || c->asked != *moves + 1 || !slot_is_of(owners, c->slot, c->row);
}

/* All but the slot, which the caller takes if it is watched. */
static __always_inline void claim_anew(struct claim *c, struct task_struct *task)
{
	u64 *moves = service_moves_at();

	c->asked = moves ? *moves + 1 : 0;
	c->row = service_of(task);
	c->watched = service_watched(c->row);
}

/* The shard of this CPU. */
static __always_inline u32 slot_index(u32 slot)
{
	return slot * shards + (bpf_get_smp_processor_id() & (shards - 1));
}

#endif
