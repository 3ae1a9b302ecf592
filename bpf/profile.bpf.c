/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * On-CPU profile: what the CPUs do, by stack, for flame graphs.
 *
 * The clock of each CPU that is not idle stops it 99 times a second, and the stack that it is in
 * then, of the kernel and of the user, counts one sample for the service of the thread. So of a thread's CPU time
 * each function has the share of samples in which it is found: p percent within 2 * sqrt(p * (100 - p) / n) points, of n
 * samples. 99 and not 100, as what programs do at round times would be met always or never.
 *
 * Frames are those that frame pointers lead to. A frame of a file that has a build ID is told by that and its offset in the
 * file, so that it can be named when the process is gone; any other by its address.
 *
 * Hooks: perf_event, the software clock of each CPU; it is a timer's interrupt, so that what the kernel does with interrupts
 * off counts where it permits them again.
 *
 * Limits: 64 frames of the kernel and 127 of the user. A CPU that a hypervisor takes away is not seen.
 */
#include "hot.bpf.h"
#include "service.bpf.h"
#include "stack.bpf.h"

const volatile u32 hz RANGE(1, 999) = 99;

struct profile_row {
	u64 samples METRIC("total_events-profile_samples") UNIT("samples") HELP(
		"Profile samples: stacks taken of its threads on CPUs, hz a second of CPU time");
};

MMAP_ARRAY(profile_services, struct profile_row, SERVICE_FIRST) SUBJECT("service");

RINGBUF(profile_stacks, struct stack_head, 256 * 1024) STACKS("cpu unit=samples percpu");
ARRAY(profile_seen, u64, STACK_SEEN);
PERCPU_ARRAY(profile_scratch, u32, struct whole_stack, 1);

SEC("perf_event")
PERIODIC("hz=99")
HOT(0) int profile_sample(struct bpf_perf_event_data *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct profile_row *row;
	struct whole_stack *stack;
	u32 zero = 0, service;

	hot_run(0);
	service = service_of(task);
	row = bpf_map_lookup_elem(&profile_services, &service);
	stack = bpf_map_lookup_elem(&profile_scratch, &zero);
	if (!task->pid || !service_watched(service) || !row || !stack)
		return 0;
	add(&row->samples, 1);
	stack->kernel.head.service = service;
	stack->kernel.head.value = 1;
	stack_send_whole(&profile_stacks, &profile_seen, stack,
			 stack_read_current(context, stack, task));
	return 0;
}

char LICENSE[] SEC("license") DEFAULT(off)
	HELP("On-CPU profile: in which functions the CPU time of services goes, as flame graphs") =
		"Dual MIT/GPL";
