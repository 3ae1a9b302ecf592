/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Rows that are assigned on first use: the words that the kernel and the engine exchange. Included
 * by both sides.
 *
 * A table has two maps of u32. Its slots are indexed by the row of the service or process: the
 * slot; or 0: none, and a service may not have one yet (a process may); or SLOT_NONE with further
 * bits. Its owners are indexed by slot: the row that has it, plus one; or 0: free. owners[0], of
 * slot 0, which belongs to nobody, counts how many slots have been freed, or how often the engine
 * has since granted a slot to somebody.
 */
#ifndef SLOT_H
#define SLOT_H

#define SLOT_NONE (1U << 31)    /* none; the engine grants one */
#define SLOT_GROUP (1U << 30)   /* with SLOT_NONE: may be one reserved for units, containers */
#define SLOT_REFUSED (1U << 29) /* likewise: none was free when so many had been freed */
#define SLOT_FREED (SLOT_REFUSED - 1)

#define SLOT_CLOSED (1U << 31) /* of an owner: the engine is taking the slot back */

#endif
