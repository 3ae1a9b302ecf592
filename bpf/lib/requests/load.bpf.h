/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What the walk over the threads has counted of a service, for its slack and capacity.
 */
#ifndef LOAD_BPF_H
#define LOAD_BPF_H

#include "cpus.bpf.h"
#include "services/service_request.bpf.h"

/* What the walk gathers of a service. Its row shows it when the walk is complete. */
struct load {
	/* Of the threads that served, since the walk before. */
	u64 serving_ns, busy_ns;
	u64 cpu_ns, wait_ns;
	/* As of the last complete walk. */
	u64 all_cpu_ns, all_wait_ns; /* of the service, see service_cpu.bpf.h */
	u64 exchanges;
	u32 owner;       /* of the slot */
	u32 walk;        /* last walk that has visited a thread of it */
	u32 limits_walk; /* walk that has set the members below */
	bool any_cpu;    /* any CPU that is online may be used; otherwise: */
	struct cpu_set set;
	u64 quota;                     /* see cpu_quota() */
	struct request_sums published; /* of published_owner */
	u32 published_owner;
	/* The row's counters of slack when the interval began. */
	struct {
		u64 began_ns;
		u64 slack_ns, elapsed_ns;
		u64 free_ns, serving_ns;
		u64 room_ns, cpus_ns;
	} interval;
	/* Sums until there are enough requests for the capacity. */
	struct {
		u64 exchanges;
		u64 cpu_ns, room_ns, elapsed_ns;
	} window;
};

#endif
