/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Rows that are given out on first use, for tables whose rows are large: a
 * service or process without events has none. The engine takes a row back when
 * its owner is gone; who was refused one then asks again. Rows of services are in
 * service_slot.bpf.h, those of processes in process_slot.bpf.h.
 */
#ifndef SLOT_BPF_H
#define SLOT_BPF_H

#include "refused.bpf.h"
#include "service.bpf.h"

#define SLOTS_END 1024
#define SLOT_REFUSED (1U << 31) /* and how many had become free by then */

const volatile u32 slots_max = 1; /* rows of the table, set before load */
const volatile u32 shards = 1;    /* of each row, a power of two, set before load */

/* A table has two maps of u32. Its slots, by row of the service or process: 0: none yet, or
 * SLOT_REFUSED. Their owners, by slot: the row that has it, and one; 0: free; of slot 0, which is
 * nobody's own: how many have become free. */

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

/* Tries to give slot i to the row that had `was`; false: that slot is another's. Where
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

/* The slot of a row, 0: none. Row 0 has none: it is that of all other services, or nobody's. */
static __always_inline u32 slot_find(void *slots, u32 row)
{
	u32 *slot = row == 0 ? NULL : bpf_map_lookup_elem(slots, &row);
	u32 has = slot ? *slot : 0;

	return has & SLOT_REFUSED ? 0 : has;
}

/* The slot of a row, taken if it has none; two CPUs may ask at once. One that is refused counts
 * once, and all are looked at anew when one has become free. */
static __always_inline u32 slot_take_from(void *slots, void *owners, u32 row)
{
	u32 *slot = row == 0 ? NULL : bpf_map_lookup_elem(slots, &row);
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

/* The shard of this CPU. */
static __always_inline u32 slot_index(u32 slot)
{
	return slot * shards + (bpf_get_smp_processor_id() & (shards - 1));
}

#endif
