/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Programs on uprobes (uprobe, uretprobe, usdt, also by uprobe.multi) can be preempted, and then
 * another thread runs the same program on the same CPU: for all other hooks the kernel counts who
 * is in a program there, and leaves the second run out (bpf_prog_active of kprobes, tracepoints and
 * perf events, "active" of each fentry, fexit and raw tracepoint). Since Linux 6.13 a function of a
 * program with a frame of more than 48 bytes has it not on the stack of the thread but on one of
 * the CPU ("private stack"), where the second run overwrites the keys and values of the first.
 * Debian's kernels preempt programs since 6.16 (PREEMPT_LAZY), others if booted with preempt=full.
 *
 * on_stack_of_thread() keeps frames where they were before. Values in maps per CPU are shared by
 * both runs in any kernel: on uprobes they are counters, which grow by add().
 *
 * Not bpf_preempt_disable() (Linux 6.10): in older kernels libbpf 1.1 seeks it in the types of all
 * modules, and without CAP_SYS_ADMIN the object is not loaded at all. It also took 30 ns a run.
 */
#ifndef PREEMPT_BPF_H
#define PREEMPT_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

/* First in a program, not in a function of it. The verifier gives no private stack to a program with
 * a tail call; this one it finds to be unreachable, and removes. */
static __always_inline void on_stack_of_thread(void)
{
	unsigned long never = 0;

	/* The compiler shall not find out. */
	asm volatile("" : "+r"(never));
	if (never)
		bpf_tail_call(NULL, NULL, 0);
}

#endif
