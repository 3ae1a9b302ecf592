/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * How long each CPU was idle, by /proc/stat, between the previous walk and the one about to start.
 * Included by both sides.
 */
#ifndef CPU_IDLE_H
#define CPU_IDLE_H

#include <linux/types.h>

/* An entry of the map `cpu_idles`, indexed by CPU. */
struct cpu_idle {
	__u64 idle_ns;
	__u64 elapsed_ns; /* 0: the CPU is not online, or was not at the previous walk */
};

#endif
