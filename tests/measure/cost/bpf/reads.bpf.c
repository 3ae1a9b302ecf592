/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Reads the memory of a program that sends as often as its first bytes cannot be had with less: once
 * from the buffer of a write, and for a sendmsg also its struct msghdr and its first struct iovec. It
 * always reads at the call's second argument, which takes as long.
 */
#include "kernel/syscall.bpf.h"
#include "listing.h"

#define READ_SIZE 16

const volatile struct listing watched = {};

SEC("tp_btf/sock_send_length")
int reads_send(void *ctx)
{
	struct task_struct *task = current_task();
	struct pt_regs *regs;
	u64 bytes[READ_SIZE / sizeof(u64)];
	const void *at;

	if ((u32)task->tgid != watched.tgid)
		return 0;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	at = (const void *)call_argument(regs, 2);
	bpf_probe_read_user(bytes, sizeof(bytes), at);
	if (call_bytes(call_number(regs)) == BYTES_MESSAGE) {
		bpf_probe_read_user(bytes, sizeof(bytes), at);
		bpf_probe_read_user(bytes, sizeof(bytes), at);
	}
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
