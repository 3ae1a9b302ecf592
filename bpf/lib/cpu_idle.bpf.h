/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Idle times of the CPUs, in a map of the service object that the engine fills before each walk.
 * BPF programs cannot read them: the kernel's sums are in variables that not every kernel exposes.
 */
#ifndef CPU_IDLE_BPF_H
#define CPU_IDLE_BPF_H

#include "cpu_idle.h"
#include "metric.bpf.h"

/* Sized before load: an entry for each CPU. */
MMAP_ARRAY(cpu_idles, struct cpu_idle, 1) SHARED(1);

#endif
