/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * A walk over all tasks that looks at none: the least that any costs.
 */
#include "kernel.bpf.h"

SEC("iter/task")
int empty_walk(struct bpf_iter__task *ctx)
{
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
