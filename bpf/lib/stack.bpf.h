/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Makes records of stacks (stack.h) and sends them to the engine.
 */
#ifndef STACK_BPF_H
#define STACK_BPF_H

#include "event.bpf.h"
#include "kernel/syscall.bpf.h"
#include "stack.h"

struct kernel_stack {
	struct stack_head head;
	u64 frame[STACK_KERNEL_MAX];
};

/* Sets what identifies the thread and its system call; not value, frames and service. */
static inline void stack_begin(struct stack_head *head, struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct task_struct *leader = task->group_leader;
	u32 number = call_number(regs);

	if (task->flags & PF_KTHREAD) {
		head->began_ns = head->image = head->user_count = 0;
		head->syscall = 0;
		head->pid = task->tgid;
		bpf_probe_read_kernel_str(head->comm, sizeof(head->comm), task->comm);
		return;
	}
	head->began_ns = leader->start_boottime;
	head->image = leader->self_exec_id;
	head->pid = task->tgid;
	head->syscall = number == ~0U || regs_32_bit(regs) ? 0 : call_name(number) + 1;
	head->user_count = 0;
	bpf_probe_read_kernel(head->comm, sizeof(head->comm), task->comm);
}

/* Reads the kernel stack of a thread that is on no CPU, or of the current one. */
static inline void stack_of_kernel(struct kernel_stack *stack, struct task_struct *task)
{
	long bytes = bpf_get_task_stack(task, stack->frame, sizeof(stack->frame), 0);

	stack->head.kernel_count = bytes > 0 ? bytes / sizeof(stack->frame[0]) : 0;
}

/* The kernel's part, with the user's frames directly after its last frame: see stack.h. */
struct whole_stack {
	struct kernel_stack kernel;
	struct stack_frame user[STACK_USER_MAX];
};

/* Reads the stack of the current thread as it was when it was interrupted or called the program
 * that has this context; sets all but value and service. Frames in files with a build ID are
 * identified by it if the kernel can read it now, which needs no lock that anybody waits for.
 * Returns the size of the record, 0: nothing. */
static __always_inline u64 stack_read_current(void *context, struct whole_stack *stack,
					      struct task_struct *task)
{
	struct kernel_stack *kernel = &stack->kernel;
	u64 count, user = 0;
	long bytes;

	stack_begin(&kernel->head, task);
	bytes = bpf_get_stack(context, kernel->frame, sizeof(kernel->frame), 0);
	count = bytes > 0 ? bytes / sizeof(kernel->frame[0]) : 0;
	asm volatile("" : "+r"(count));
	if (count > STACK_KERNEL_MAX)
		return 0;
	kernel->head.kernel_count = count;
	if (!(task->flags & PF_KTHREAD))
		bytes = bpf_get_stack(context, &kernel->frame[count], sizeof(stack->user),
				      BPF_F_USER_STACK | BPF_F_USER_BUILD_ID);
	else
		bytes = 0;
	user = bytes > 0 ? bytes / sizeof(stack->user[0]) : 0;
	asm volatile("" : "+r"(user));
	if (user > STACK_USER_MAX)
		return 0;
	kernel->head.user_count = user;
	return sizeof(kernel->head) + count * sizeof(kernel->frame[0]) +
	       user * sizeof(stack->user[0]);
}

/* Without a wake-up: the engine polls, and its own switches are among those that are measured. */
static inline void stack_send(void *ring, void *stack, u64 size)
{
	if (bpf_ringbuf_output(ring, stack, size, BPF_RB_NO_WAKEUP))
		add(&events_dropped, 1);
}

/* Wakes the engine for the first record of a program that a process runs, so that the engine reads
 * its mappings while it lives; and when the ring is half full. seen: an array of STACK_SEEN u64,
 * which remembers programs. */
#define STACK_SEEN 4096
static __always_inline u64 stack_wakes(void *ring, void *seen, const struct stack_head *head)
{
	u64 program = head->began_ns ^ (u64)head->pid << 32 ^ head->image, *known;
	u32 at = (u32)((program * 0x9e3779b97f4a7c15ULL) >> 32) % STACK_SEEN;

	known = bpf_map_lookup_elem(seen, &at);
	if (head->began_ns && known && *known != program) {
		*known = program;
		return BPF_RB_FORCE_WAKEUP;
	}
	return bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) >
			       bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) / 2
		       ? BPF_RB_FORCE_WAKEUP
		       : BPF_RB_NO_WAKEUP;
}

/* Sends what stack_read_current() has read. */
static __always_inline void stack_send_whole(void *ring, void *seen, struct whole_stack *stack,
					     u64 size)
{
	u64 flags = stack_wakes(ring, seen, &stack->kernel.head);

	asm volatile("" : "+r"(size));
	if (size && size <= sizeof(*stack) && bpf_ringbuf_output(ring, stack, size, flags))
		add(&events_dropped, 1);
}

static inline void stack_send_kernel(void *ring, struct kernel_stack *stack)
{
	u64 count = stack->head.kernel_count;

	asm volatile("" : "+r"(count));
	if (count <= STACK_KERNEL_MAX)
		stack_send(ring, stack, sizeof(stack->head) + count * sizeof(stack->frame[0]));
}

#endif
