/* SPDX-License-Identifier: MIT */
/*
 * Whether this test may load BPF programs at all, found with the smallest program: a kernel that
 * refuses one of the engine's objects must fail the test, not skip it.
 */
#ifndef MAY_LOAD_H
#define MAY_LOAD_H

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Prints the reason if it returns false. */
static inline bool may_load(void)
{
	static const struct bpf_insn zero_and_exit[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int program;

	if (geteuid() != 0) {
		printf("needs root: it loads BPF programs\n");
		return false;
	}
	program = bpf_prog_load(BPF_PROG_TYPE_TRACEPOINT, NULL, "GPL", zero_and_exit, 2, NULL);
	if (program < 0) {
		printf("this machine lets root load no BPF program: %s\n", strerror(errno));
		return false;
	}
	close(program);
	return true;
}

#endif
