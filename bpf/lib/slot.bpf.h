/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Rows that are given out on first use, for tables whose rows are large: a
 * service without events has none. Row 0 is where the events of all go that
 * came when no row was free. The engine takes the row of a service back when
 * the service is gone; who was refused one then asks again.
 */
#ifndef SLOT_BPF_H
#define SLOT_BPF_H

#include "refused.bpf.h"
#include "service.bpf.h"

#define SLOTS_END 1024
#define SLOT_REFUSED (1U << 31) /* and how many had become free by then */

const volatile u32 slots_max = 1; /* rows of the table, set before load */
const volatile u32 shards = 1;    /* of each row, a power of two, set before load */

/* By row of the service: its slot, 0: none yet, or SLOT_REFUSED. */
MMAP_ARRAY(row_slots, u32, 1);

/* By slot: the row that has it, and one; 0: free. Of slot 0, which is everybody's: how
 * many have become free. */
MMAP_ARRAY(slot_owners, u32, 1);

static __always_inline u32 *slots_freed_at(void *owners)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(owners, &zero);
}

static __always_inline u32 slots_freed(void *owners)
{
	u32 *freed = slots_freed_at(owners);

	return freed ? *(volatile u32 *)freed : 0;
}

/* Tries to give slot i to the service that had `was`; false: that slot is another's. Where
 * another CPU was faster the slot is free again, and who was refused meanwhile may have it. */
static __noinline bool slot_try(void *slots, void *owners, u32 i, u32 row, u32 was)
{
	u32 *owner = bpf_map_lookup_elem(owners, &i);
	u32 *slot = bpf_map_lookup_elem(slots, &row), *freed = slots_freed_at(owners);

	if (!owner || !slot || !freed || *owner || __sync_val_compare_and_swap(owner, 0, row + 1))
		return false;
	if (__sync_val_compare_and_swap(slot, was, i) != was) {
		__sync_lock_test_and_set(owner, 0);
		__sync_fetch_and_add(freed, 1);
	}
	return true;
}

/* The slot of a service, 0: none yet, or that of all others. */
static __always_inline u32 slot_find(void *slots, u32 row)
{
	u32 *slot = row == SERVICE_OTHER ? NULL : bpf_map_lookup_elem(slots, &row);
	u32 has = slot ? *slot : 0;

	return has & SLOT_REFUSED ? 0 : has;
}

/* The slot of a service, taken if it has none; two CPUs may ask at once. A service that is
 * refused counts once, and all are looked at anew when one has become free. */
static __always_inline u32 slot_take_from(void *slots, void *owners, u32 row)
{
	u32 *slot = row == SERVICE_OTHER ? NULL : bpf_map_lookup_elem(slots, &row);
	u32 was = slot ? *(volatile u32 *)slot : 0, refusal;

	if (!slot || (was && !(was & SLOT_REFUSED)))
		return was;
	refusal = SLOT_REFUSED | slots_freed(owners);
	if (was == refusal)
		return 0;
	for (u32 i = 1; i < SLOTS_END; i++) {
		if (i >= slots_max)
			break;
		if (slot_try(slots, owners, i, row, was))
			return slot_find(slots, row);
	}
	if (__sync_val_compare_and_swap(slot, was, refusal) == was)
		refuse();
	return slot_find(slots, row);
}

__noinline u32 slot_take(u32 row)
{
	return slot_take_from(&row_slots, &slot_owners, row);
}

/* What a socket or a thread remembers of its service. */
struct slot_cache {
	u64 asked; /* when service_moves was one less, 0: never */
	u32 row;
	u32 slot;
	u32 owner;    /* what the slot's owner was then */
	bool watched; /* somebody wants to know its events */
};

/* The service may be another one now, have lost its slot, or get one at last. */
static __always_inline bool slot_cache_is_old(const struct slot_cache *c, void *owners)
{
	u32 slot = c->slot, *owner = bpf_map_lookup_elem(owners, &slot);
	u64 *moves = service_moves_at();

	return !moves || c->asked != *moves + 1 || !owner || *owner != c->owner;
}

/* All but the slot. */
static __always_inline void slot_cache_renew(struct slot_cache *c, struct task_struct *task)
{
	u64 *moves = service_moves_at();

	c->asked = moves ? *moves + 1 : 0;
	c->row = service_of(task);
	c->watched = service_watched(c->row);
}

/* freed: how many slots had become free before this one was asked for. */
static __always_inline void slot_cache_set(struct slot_cache *c, u32 slot, u32 freed)
{
	c->slot = slot;
	c->owner = slot ? c->row + 1 : freed;
}

/* The shard of this CPU. */
static __always_inline u32 slot_index(u32 slot)
{
	return slot * shards + (bpf_get_smp_processor_id() & (shards - 1));
}

#endif
