/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * On-CPU profile: what the CPUs do, by stack, for flame graphs.
 *
 * The clock of each CPU that is not idle interrupts it 99 times a second. The stack at that
 * moment, of the kernel and of the user, counts one sample for the service of the thread. So each
 * function has the share of a thread's CPU time that it has of the samples: p percent to within 2
 * * sqrt(p * (100 - p) / n) points for n samples. 99 and not 100, because work that programs do at
 * round times would be sampled always or never.
 *
 * Frames are found by frame pointers. A frame in a file with a build ID is identified by that and
 * its offset in the file, so that it can be named after the process has exited; any other frame by
 * its address.
 *
 * Hooks: perf_event, the software clock of each CPU. It is a timer interrupt: what the kernel does
 * with interrupts off counts where it enables them again.
 *
 * Limits: 64 frames of the kernel and 127 of the user. Time that a hypervisor takes from a CPU is
 * not seen.
 */
#include "run_counter.bpf.h"
#include "services/service.bpf.h"
#include "stack.bpf.h"

const volatile u32 hz RANGE(1, 999) = 99;

struct profile_row {
	u64 samples METRIC("total_events-profile_samples") UNIT("samples")
		HELP("Profile samples: of threads on a CPU, hz per second of CPU time");
};

MMAP_ARRAY(profile_services, struct profile_row, SERVICE_FIRST) SUBJECT("service");

RINGBUF(profile_stacks, struct stack_head, 256 * 1024) STACKS("cpu unit=samples percpu");
ARRAY(profile_seen, u64, STACK_SEEN);
PERCPU_ARRAY(profile_scratch, u32, struct whole_stack, 1);

SEC("perf_event")
PERIODIC("hz=99")
RUN_COUNTER(0) int profile_sample(struct bpf_perf_event_data *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct profile_row *row;
	struct whole_stack *stack;
	u32 zero = 0, service;

	run_counter_add(0);
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
