/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Rows of services that are given out on first use, for a table with
 *
 *     SUBJECT("service via=row_slots owners=slot_owners")
 *
 * Slot 0 is where the events of all go that have none: for want of a free one, or of series of
 * their own, without which a service that is not configured gets none.
 */
#ifndef SERVICE_SLOT_BPF_H
#define SERVICE_SLOT_BPF_H

#include "slot.bpf.h"

MMAP_ARRAY(row_slots, u32, 1);
MMAP_ARRAY(slot_owners, u32, 1);

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

/* Is what it has counted still in its slot? */
static __always_inline bool slot_cache_has_slot(const struct slot_cache *c, void *owners)
{
	u32 slot = c->slot, *owner = slot ? bpf_map_lookup_elem(owners, &slot) : NULL;

	return !slot || (owner && *owner == c->owner);
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

static __noinline void slot_cache_assign(struct slot_cache *c, struct task_struct *task)
{
	u32 freed = slots_freed(&slot_owners);

	slot_cache_renew(c, task);
	slot_cache_set(c, c->watched ? slot_take(c->row) : 0, freed);
}

/* That of a thread, brought up to date; false: nobody wants to know its events. */
static __always_inline bool slot_cache_watched(struct slot_cache *c, struct task_struct *task)
{
	if (slot_cache_is_old(c, &slot_owners))
		slot_cache_assign(c, task);
	return c->watched;
}

#endif
