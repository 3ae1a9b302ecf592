/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Rows that are given out on first use, as the kernel and the engine tell each other of them.
 * Included by both sides.
 *
 * A table has two maps of u32. Its slots, by row of the service or process: the slot, or 0: none,
 * and it may not have one yet (a process may), or SLOT_NONE and what else is known. Its owners, by
 * slot: the row that has it, and one; 0: free; of slot 0, which is nobody's own: how many have
 * become free, or how many times somebody may have one since.
 */
#ifndef SLOT_H
#define SLOT_H

#define SLOT_NONE (1U << 31) /* none; the engine's word that it may have one */
#define SLOT_GROUP \
	(1U << 30) /* with that: also one of those that are for units and containers alone */
#define SLOT_REFUSED (1U << 29) /* likewise: there was none when so many had become free */
#define SLOT_FREED (SLOT_REFUSED - 1)

#define SLOT_CLOSED (1U << 31) /* with an owner: the engine is taking it back */

#endif
