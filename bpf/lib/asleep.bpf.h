/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Counts in which system calls threads sleep. The number of the call is read from the registers
 * that the thread has saved on its way into the kernel, so that no call costs anything.
 */
#ifndef ASLEEP_BPF_H
#define ASLEEP_BPF_H

#include "kernel/syscall.bpf.h"
#include "refused.bpf.h"
#include "sample.bpf.h"

const volatile bool option_by_syscall;

struct asleep_row {
	u64 ns METRIC("delay_rate-syscall rate scale=1/1000000000") UNIT("seconds per second")
		HELP("Asleep in a system call: of all threads, by call, by samples");
};

struct asleep_request_row {
	u64 ns METRIC("delay_rate-request_syscall rate scale=1/1000000000") UNIT(
		"seconds per second")
		HELP("Requests asleep in a system call: of threads with a request in hand, by call, by samples");
};

struct asleep_key {
	u32 service LABEL("service");
	u32 number LABEL("syscall");
};

HASH(asleep, struct asleep_key, struct asleep_row, 8192) OPTION("by_syscall") SUBJECT("key");
/* A table of its own, so that only calls in which requests wait have series. */
HASH(asleep_requests, struct asleep_key, struct asleep_request_row, 2048)
OPTION("by_syscall") SUBJECT("key");

/* Both rows have one counter. */
static __always_inline void asleep_add(void *map, const struct asleep_key *key)
{
	u64 none = 0, *ns = bpf_map_lookup_elem(map, key);

	if (!ns) {
		bpf_map_update_elem(map, key, &none, BPF_NOEXIST);
		ns = or_refused(bpf_map_lookup_elem(map, key));
	}
	if (ns)
		add(ns, sample_ns);
}

/* Counts a sampled thread of this service, if it sleeps in a system call. in_request: with a
 * request in hand, and not until its client sends another one. */
static __noinline void asleep_count(struct task_struct *task, u32 service, bool in_request)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	u32 number = call_number(regs);
	struct asleep_key key = { .service = service, .number = call_name(number) };

	if (sample_state(task) != SAMPLE_ASLEEP || number == ~0U || regs_32_bit(regs))
		return;
	asleep_add(&asleep, &key);
	if (in_request)
		asleep_add(&asleep_requests, &key);
}

#endif
