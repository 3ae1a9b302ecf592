/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Rows of services that are assigned on first use, for a table with
 *
 *     SUBJECT("service via=row_slots owners=slot_owners")
 *
 * Slot 0 counts the events of all services without a slot: none was free, or the service has no
 * series of its own, without which a service that is not configured gets no slot.
 */
#ifndef SERVICE_SLOT_BPF_H
#define SERVICE_SLOT_BPF_H

#include "slot.bpf.h"

MMAP_ARRAY(row_slots, u32, 1);
MMAP_ARRAY(slot_owners, u32, 1);

__noinline u32 slot_claim(u32 row)
{
	return slot_claim_from(&row_slots, &slot_owners, row);
}

/* The service of a socket or a thread, cached in its storage. */
struct slot_cache {
	u64 moves_seen; /* service_moves + 1 when it was filled, 0: never */
	u32 row;
	u32 slot;
	u32 owner;    /* value of the slot's owner then */
	bool watched; /* the events of the service are watched */
};

/* true: the service may have changed, have lost its slot, or be able to get one now. */
static __always_inline bool slot_cache_is_old(const struct slot_cache *c, void *owners)
{
	u32 slot = c->slot, *owner = bpf_map_lookup_elem(owners, &slot);
	u64 *moves = service_moves_at();

	return !moves || c->moves_seen != *moves + 1 || !owner || *owner != c->owner;
}

/* Is what it has counted still in its slot? */
static __always_inline bool slot_cache_has_slot(const struct slot_cache *c, void *owners)
{
	u32 slot = c->slot, *owner = slot ? bpf_map_lookup_elem(owners, &slot) : NULL;

	return !slot || (owner && *owner == c->owner);
}

/* Fills in everything but the slot. */
static __always_inline void slot_cache_renew(struct slot_cache *c, struct task_struct *task)
{
	u64 *moves = service_moves_at();

	c->moves_seen = moves ? *moves + 1 : 0;
	c->row = service_of(task);
	c->watched = service_watched(c->row);
}

/* freed: number of slots that had been freed before this one was requested. */
static __always_inline void slot_cache_set(struct slot_cache *c, u32 slot, u32 freed)
{
	c->slot = slot;
	c->owner = slot ? c->row + 1 : freed;
}

static __noinline void slot_cache_assign(struct slot_cache *c, struct task_struct *task)
{
	u32 freed = slots_freed(&slot_owners);

	slot_cache_renew(c, task);
	slot_cache_set(c, c->watched ? slot_claim(c->row) : 0, freed);
}

/* Brings the cache of a thread up to date; false: the service is not watched. */
static __always_inline bool slot_cache_watched(struct slot_cache *c, struct task_struct *task)
{
	if (slot_cache_is_old(c, &slot_owners))
		slot_cache_assign(c, task);
	return c->watched;
}

#endif
