/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Rows that are assigned on first use, for tables with large rows: a service or process without
 * events has none. The engine takes a row back when its owner is gone; whoever was refused one then
 * tries again. Rows of services are in service_slot.bpf.h, those of processes in
 * process_slot.bpf.h.
 */
#ifndef SLOT_BPF_H
#define SLOT_BPF_H

#include "refused.bpf.h"
#include "service.bpf.h"
#include "slot.h"

#define SLOTS_END 1024 /* upper limit of slots for services that are not configured */

const volatile u32 slots_max = 1; /* rows of the table, set before load */
const volatile u32 shards = 1;    /* of each row, a power of two, set before load */

/* Of services, set before load. Slots below the first number are those of configured services, in
 * their order. User-controlled names may have slots from the second number on, units and containers
 * all others. */
const volatile u32 slots_reserved = 1;
const volatile u32 slots_open = 1;

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

/* Claims a slot for a row, by the slot's owner; false: it belongs to another. Global, as the next
 * one: the verifier checks it once and not in each iteration of the search. */
__noinline int slot_own(u32 *owner, u32 row)
{
	return owner && !*owner && !__sync_val_compare_and_swap(owner, 0, row + 1);
}

/* Slot i becomes that of the row whose slot word was `was`. If another CPU was faster, slot i is
 * freed again, and whoever was refused meanwhile may have it. */
__noinline int slot_give(u32 *owner, u32 *slot, u32 *freed, u32 i, u32 was)
{
	if (!owner || !slot || !freed || __sync_val_compare_and_swap(slot, was, i) == was)
		return 0;
	__sync_lock_test_and_set(owner, 0);
	__sync_fetch_and_add(freed, 1);
	return 0;
}

/* The slot of a row, 0: none. Row 0 has none: it stands for all other services, or for nobody. */
static __always_inline u32 slot_find(void *slots, u32 row)
{
	u32 *slot = row == 0 ? NULL : bpf_map_lookup_elem(slots, &row);
	u32 has = slot ? *slot : 0;

	return has & SLOT_NONE ? 0 : has;
}

/* Claims the first free slot from `begin` on. A row that is refused counts once, and searches again
 * only after a slot has been freed. */
static __always_inline u32 slot_search(void *slots, void *owners, u32 row, u32 was, u32 begin)
{
	u32 *slot = bpf_map_lookup_elem(slots, &row), *freed = slots_freed_at(owners), *owner;
	u32 refusal = SLOT_NONE | SLOT_REFUSED | (was & SLOT_GROUP);

	refusal |= slots_freed(owners) & SLOT_FREED;
	if (!slot || !freed || was == refusal)
		return 0;
	for (u32 i = 0; i < SLOTS_END; i++) {
		u32 at = begin + i;

		if (at >= slots_max)
			break;
		owner = bpf_map_lookup_elem(owners, &at);
		if (!owner || !slot_own(owner, row))
			continue;
		slot_give(owner, slot, freed, at, was);
		return slot_find(slots, row);
	}
	if (__sync_val_compare_and_swap(slot, was, refusal) == was && !(was & SLOT_REFUSED))
		refuse();
	return slot_find(slots, row);
}

static __always_inline u32 slot_word(void *slots, u32 row)
{
	u32 *slot = row == 0 ? NULL : bpf_map_lookup_elem(slots, &row);

	return slot ? *(volatile u32 *)slot : 0;
}

/* The slot of a configured service, which no other service gets. */
static __always_inline u32 slot_claim_reserved(void *slots, void *owners, u32 row, u32 at)
{
	u32 *slot = bpf_map_lookup_elem(slots, &row), *owner = bpf_map_lookup_elem(owners, &at);

	if (!slot || !owner)
		return 0;
	__sync_lock_test_and_set(owner, row + 1);
	__sync_lock_test_and_set(slot, at);
	return at;
}

/* The slot of a service's row, claimed if it has none and may have one; two CPUs may call this at
 * once. */
static __always_inline u32 slot_claim_from(void *slots, void *owners, u32 row)
{
	u32 was = slot_word(slots, row), at = row - SERVICE_FIRST + 1;

	if (was && !(was & SLOT_NONE))
		return was;
	if (row >= SERVICE_FIRST && at < slots_reserved)
		return slot_claim_reserved(slots, owners, row, at);
	if (!was)
		return 0;
	return slot_search(slots, owners, row, was, was & SLOT_GROUP ? slots_reserved : slots_open);
}

/* Likewise for a process, which may have any slot. */
static __always_inline u32 slot_claim_any(void *slots, void *owners, u32 row)
{
	u32 was = slot_word(slots, row);

	if (row == 0 || (was && !(was & SLOT_NONE)))
		return was;
	return slot_search(slots, owners, row, was, 1);
}

/* The shard of this CPU. */
static __always_inline u32 slot_index(u32 slot)
{
	return slot * shards + (bpf_get_smp_processor_id() & (shards - 1));
}

#endif
