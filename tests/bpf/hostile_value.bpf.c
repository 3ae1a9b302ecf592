/* SPDX-License-Identifier: MIT */
/*
 * An object of another version of the plugin, in which the storage of a task was larger. It hooks
 * nothing.
 */
#include "metric.bpf.h"

struct value_row {
	u64 events METRIC("derive-events");
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct value_row);
} value SEC(".maps") SUBJECT("probe");

struct service_task {
	u32 row[12];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct service_task);
} service_tasks SEC(".maps") SHARED(2);

char LICENSE[] SEC("license") = "Dual MIT/GPL";
