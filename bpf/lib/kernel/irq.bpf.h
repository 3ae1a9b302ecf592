/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Kernel types of interrupts, and whether a program runs in one.
 */
#ifndef KERNEL_IRQ_BPF_H
#define KERNEL_IRQ_BPF_H

#include "sched.bpf.h"

#define THREAD_SIZE 16384 /* of a stack, which ends with the registers of user space */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct irqaction {
	const char *name;
};

#pragma clang attribute pop

/* Does a tp_btf program with these arguments run in a hardware or software interrupt, which belongs
 * to no process? Interrupts have stacks of their own, and the arguments are on the current stack.
 * The kernel's own preemption count is a per-CPU variable, which kallsyms may omit. */
static __always_inline bool in_interrupt(const void *arguments)
{
	return (u64)bpf_task_pt_regs(bpf_get_current_task_btf()) - (u64)arguments >= THREAD_SIZE;
}

#endif
