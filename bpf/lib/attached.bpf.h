/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Whether state is older than a pause of the probe. A probe that costs too much (MaxOverhead) is
 * detached and attached again some minutes later, with its maps unchanged. An event whose start is
 * in a map may have ended in between: its duration, and whether it is still in progress, are
 * unknown.
 */
#ifndef ATTACHED_BPF_H
#define ATTACHED_BPF_H

#include "kernel.bpf.h"

u64 attached_ns; /* time of the latest attachment after a pause, 0: there was no pause */

/* ns: by bpf_ktime_get_ns(), 0: none. */
static __always_inline bool is_since_attached(u64 ns)
{
	return ns > attached_ns;
}

#endif
