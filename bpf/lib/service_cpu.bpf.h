/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * CPU time and run-queue wait of each service, in a map of the service object: the process probe
 * adds them up, others need them. Without that probe they are 0.
 */
#ifndef SERVICE_CPU_BPF_H
#define SERVICE_CPU_BPF_H

#include "service.bpf.h"

/* Both only grow; up to the begin of the last walk, of threads that ended since up to their end. */
struct service_cpu {
	u64 cpu_ns;
	u64 wait_ns;
};

/* By service_task.row. */
ARRAY(service_cpus, struct service_cpu, SERVICE_FIRST) SHARED(1);

static __always_inline struct service_cpu *service_cpu_of(u32 row)
{
	return bpf_map_lookup_elem(&service_cpus, &row);
}

#endif
