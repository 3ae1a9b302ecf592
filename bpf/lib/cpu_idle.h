/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * How long each CPU was idle between the walk that is about to begin and the one before, by
 * /proc/stat. Included by both sides.
 */
#ifndef CPU_IDLE_H
#define CPU_IDLE_H

#include <linux/types.h>

/* An entry of the map `cpu_idles`, by CPU. */
struct cpu_idle {
	__u64 idle_ns;
	__u64 elapsed_ns; /* 0: it is not online, or was not then */
};

#endif
