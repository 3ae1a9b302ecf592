/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * State of a probe that was paused. One that costs too much (MaxOverhead) is detached and, some minutes
 * later, attached again, with its maps as they were. What had begun before may have ended in
 * between: how long it has taken, or whether it goes on, nobody knows.
 */
#ifndef ATTACHED_BPF_H
#define ATTACHED_BPF_H

#include "kernel.bpf.h"

u64 attached_ns; /* when the probe was attached again, 0: it was not */

/* Of a time by bpf_ktime_get_ns(), 0: none. */
static __always_inline bool is_since_attached(u64 ns)
{
	return ns > attached_ns;
}

#endif
