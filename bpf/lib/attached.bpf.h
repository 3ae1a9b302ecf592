/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Whether state is older than the latest attachment. Programs are attached one after the other, and
 * a probe that costs too much (MaxOverhead) is detached and attached again some minutes later, with
 * its maps unchanged. An event whose start is in a map may have ended unseen by then: its duration,
 * and whether it is still in progress, are unknown.
 */
#ifndef ATTACHED_BPF_H
#define ATTACHED_BPF_H

#include "kernel.bpf.h"

u64 attached_ns; /* since when all programs are attached, 0: they are not yet */

/* ns: by bpf_ktime_get_ns(), 0: none. */
static __always_inline bool is_since_attached(u64 ns)
{
	return ns > attached_ns;
}

#endif
