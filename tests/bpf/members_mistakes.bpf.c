/* SPDX-License-Identifier: MIT */
/*
 * Declares members wrongly, each in a way of its own, and some correctly. It is never loaded.
 */
#include "kernel.bpf.h"

struct task_struct {
	unsigned long pid;   /* signed in the kernel */
	long flags;          /* signed here */
	u32 start_boottime;  /* of another size, loaded from an address that libbpf cannot adjust */
	u32 in_iowait : 1;   /* at its position in this word */
	u32 in_execve;       /* a bit field */
	u32 in_memstall : 1; /* correct */
	u32 utime;           /* correct: both are unsigned */
	unsigned int exit_state; /* correct: of the same size */
} __attribute__((preserve_access_index));

SEC("iter/task")
int members_mistakes(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (!task)
		return 0;
	BPF_SEQ_PRINTF(ctx->meta->seq, "%lu %ld %u %u %u", task->pid, task->flags,
		       BPF_CORE_READ(task, start_boottime), task->in_iowait, task->in_execve);
	BPF_SEQ_PRINTF(ctx->meta->seq, "%u %u %u", (u32)BPF_CORE_READ_BITFIELD(task, in_memstall),
		       task->utime, task->exit_state);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
