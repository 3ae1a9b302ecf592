/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * CPU time and run-queue wait of each service, in a map of the service object: the process probe
 * adds them up, other probes read them. They are 0 without the process probe.
 */
#ifndef SERVICE_CPU_BPF_H
#define SERVICE_CPU_BPF_H

#include "service.bpf.h"

/* Both only grow. They include everything up to the start of the last walk, and for threads that
 * have exited since, up to their exit. */
struct service_cpu {
	u64 cpu_ns;
	u64 wait_ns;
};

/* Indexed by service_task.row. */
ARRAY(service_cpus, struct service_cpu, SERVICE_FIRST) SHARED(1);

static __always_inline struct service_cpu *service_cpu_of(u32 row)
{
	return bpf_map_lookup_elem(&service_cpus, &row);
}

#endif
