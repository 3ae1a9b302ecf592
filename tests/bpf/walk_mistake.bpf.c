/* SPDX-License-Identifier: MIT */
/*
 * A probe with a mistake: a program with a WALK tag is no iterator over tasks.
 */
#include "walk.bpf.h"

SEC("tp_btf/task_newtask")
WALK int forked(void *ctx)
{
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
