/* SPDX-License-Identifier: MIT */
/*
 * A probe for tests with each mistake that ITER_MAP permits, each behind an option.
 *
 * Hooks: iter/bpf_map_elem, iter/bpf_sk_storage_map, iter/task.
 */
#include "metric.bpf.h"

struct row {
	u64 walks METRIC("derive-walks");
};

MMAP_ARRAY(mistake_rows, struct row, 1) SUBJECT("probe");

HASH(hashed, u32, u32, 16);

SK_STORAGE(sockets, u64);

/* A program that is correct but for its section and tags. */
#define WALK(option, section, ...)                         \
	SEC(section)                                       \
	OPTION(#option)                                    \
	__VA_ARGS__ int option(void *ctx)                  \
	{                                                  \
		u32 zero = 0;                              \
                                                           \
		bpf_map_lookup_elem(&hashed, &zero);       \
		bpf_map_lookup_elem(&mistake_rows, &zero); \
		return 0;                                  \
	}

WALK(no_tag, "iter/bpf_map_elem")
WALK(no_map, "iter/bpf_map_elem", ITER_MAP(hashd))
WALK(variable, "iter/bpf_map_elem", ITER_MAP(LICENSE))
WALK(two, "iter/bpf_map_elem", ITER_MAP(hashed) ITER_MAP(mistake_rows))
WALK(of_task, "iter/task", ITER_MAP(hashed))
WALK(no_walk, "raw_tp/task_rename", ITER_MAP(hashed))
WALK(storage, "iter/bpf_map_elem", ITER_MAP(sockets))
WALK(no_storage, "iter.s/bpf_sk_storage_map", ITER_MAP(hashed))
WALK(fine, "iter/bpf_sk_storage_map", ITER_MAP(sockets))

/* Reads eight bytes of values of four. */
SEC("iter/bpf_map_elem")
OPTION("beyond")
ITER_MAP(hashed)
int beyond(struct bpf_iter__bpf_map_elem *ctx)
{
	u64 *value = ctx->value;
	u32 zero = 0;
	struct row *row = bpf_map_lookup_elem(&mistake_rows, &zero);

	if (row && value)
		row->walks += *value;
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
