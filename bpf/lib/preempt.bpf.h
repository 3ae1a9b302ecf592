/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Protects programs on uprobes from a second run on the same CPU.
 *
 * Programs on uprobes (uprobe, uretprobe, usdt, uprobe.multi included) can be preempted, and then
 * another thread can run the same program on the same CPU. For all other hooks the kernel counts
 * who runs a program there and skips the second run (bpf_prog_active of kprobes, tracepoints and
 * perf events, "active" of each fentry, fexit and raw tracepoint). Since Linux 6.13 a function of
 * a program with a frame of more than 48 bytes has it not on the stack of the thread but on one of
 * the CPU ("private stack"), where the second run overwrites the keys and values of the first.
 * Debian's kernels preempt programs since 6.16 (PREEMPT_LAZY), others if booted with preempt=full.
 *
 * on_stack_of_thread() leaves the frames on the stack of the thread. Both runs use the same values
 * of per-CPU maps in any kernel: on uprobes these are counters, which grow by add().
 *
 * Not by bpf_preempt_disable() (Linux 6.10): in older kernels libbpf 1.1 searches the BTF of all
 * modules for it, and without CAP_SYS_ADMIN the object is not loaded at all. It also cost 30 ns a
 * run.
 */
#ifndef PREEMPT_BPF_H
#define PREEMPT_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

/* Call it first in a program, not in a function of it. The verifier gives no private stack to a
 * program with a tail call; it finds this one to be unreachable and removes it. */
static __always_inline void on_stack_of_thread(void)
{
	unsigned long never = 0;

	/* Hides the value from the compiler. */
	asm volatile("" : "+r"(never));
	if (never)
		bpf_tail_call(NULL, NULL, 0);
}

#endif
