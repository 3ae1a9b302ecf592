/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Of the service object; the engine fills it before each walk. Programs of BPF cannot ask: the
 * kernel's own sums are in variables that not every kernel tells them.
 */
#ifndef CPU_IDLE_BPF_H
#define CPU_IDLE_BPF_H

#include "cpu_idle.h"
#include "metric.bpf.h"

/* Room for all CPUs is made before load. */
MMAP_ARRAY(cpu_idles, struct cpu_idle, 1) SHARED(1);

#endif
