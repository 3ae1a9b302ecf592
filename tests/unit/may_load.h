/* SPDX-License-Identifier: MIT */
/*
 * Whether this test may load BPF programs at all: asked with the smallest program there is, so that a kernel that refuses
 * one of our own objects fails the test.
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

/* False: it has said why not. */
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
