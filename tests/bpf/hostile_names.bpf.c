/* SPDX-License-Identifier: MIT */
/*
 * An object whose maps have the names of the engine's own, without sharing any. It counts in them
 * what would be assignments to the engine's programs, and the size of its own map of tasks.
 */
#include "metric.bpf.h"

struct names_row {
	u64 walks METRIC("derive-walks");
	u64 assignments METRIC("gauge-assignments");
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct names_row);
} services SEC(".maps") SUBJECT("probe");

struct assignment {
	u64 start_ns;
	u32 row;
	u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u32);
	__type(value, struct assignment);
} assignments SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, u32);
} service_free SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, u64);
} service_tasks SEC(".maps");

/* Would move every process to row 1. */
SEC("iter/task")
int names_walk(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	u32 zero = 0, pid, none;
	u64 key = 0;
	struct names_row *row = bpf_map_lookup_elem(&services, &zero);

	if (!row)
		return 0;
	if (!task) {
		add(&row->walks, 1);
		bpf_map_pop_elem(&service_free, &none);
		bpf_map_update_elem(&service_tasks, &key, &key, 0);
		return 0;
	}
	pid = task->tgid;
	struct assignment assignment = { .start_ns = task->start_boottime, .row = 1 };
	if (task->pid == task->tgid && bpf_map_update_elem(&assignments, &pid, &assignment, 0) == 0)
		row->assignments++;
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
