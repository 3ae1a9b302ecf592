/* SPDX-License-Identifier: MIT */
/*
 * Prints what the probes' declarations of kernel types read, for members whose size or position in
 * a word differs between kernels.
 *
 * Hooks: iter/task; a line for each thread. A socket is expected at descriptor SOCKET_FD, which is
 * a socket or closed in the processes that the test inspects.
 */
#include "descriptor.bpf.h"
#include "kernel/net.bpf.h"

#define SOCKET_FD 500

SEC("iter/task")
int members_print(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	const struct socket *socket;
	const struct sock *sk;

	if (!task || !task->files)
		return 0;
	socket = BPF_CORE_READ(file_in(file_slot(task, SOCKET_FD)), private_data);
	sk = BPF_CORE_READ(socket, sk);
	BPF_SEQ_PRINTF(ctx->meta->seq, "%d %u %u %u %u %u %u\n", task->pid, task->on_cpu,
		       (u32)BPF_CORE_READ_BITFIELD_PROBED(task, on_cpu), task->on_rq,
		       (u32)BPF_CORE_READ_BITFIELD(task, in_iowait), BPF_CORE_READ(sk, sk_type),
		       (u32)BPF_CORE_READ_BITFIELD_PROBED(sk, sk_userlocks));
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
