/* SPDX-License-Identifier: MIT */
/*
 * A probe for tests of Collect and Ignore: metrics of every kind, some off by default, one behind
 * an Option, and one read from a file.
 *
 * Hooks: raw_tp task_rename.
 */
#include "metric.bpf.h"

struct row {
	u64 renames METRIC("derive-renames");
	u64 quiet METRIC("derive-quiet") DEFAULT(off);
	u64 ratio METRIC("percent-share per=all scale=100/1") DEFAULT(off);
	u64 all;
	struct moments gap METRIC("gauge-gap") DEFAULT(off);
	struct hist length METRIC("latency-length scale=1/1000000000");
};

MMAP_ARRAY(rows, struct row, 1) SUBJECT("probe");

struct extra {
	u64 extra METRIC("derive-extra");
};

MMAP_ARRAY(extras, struct extra, 1) SUBJECT("probe") OPTION("extra");

struct load {
	u64 load METRIC("gauge-load scale=1/100") FIELD("1 decimals=2");
};

FILE_TABLE(loads, u32, struct load, 1) SUBJECT("probe") FILE("/proc/loadavg lines");

struct key {
	char comm[16] LABEL("string");
};

struct named {
	u64 renames METRIC("derive-named");
};

HASH(names, struct key, struct named, 64) SUBJECT("key");

static void count_name(void)
{
	struct key key = {};
	struct named *row, none = {};

	bpf_get_current_comm(key.comm, sizeof(key.comm));
	bpf_map_update_elem(&names, &key, &none, BPF_NOEXIST);
	row = bpf_map_lookup_elem(&names, &key);
	if (row)
		add(&row->renames, 1);
}

SEC("raw_tp/task_rename")
int selection_count(void *event)
{
	u32 zero = 0;
	struct row *row = bpf_map_lookup_elem(&rows, &zero);

	count_name();
	if (!row)
		return 0;
	add(&row->renames, 1);
	add(&row->quiet, 2);
	add(&row->ratio, 1);
	add(&row->all, 4);
	moments_add(&row->gap, 7);
	hist_add(&row->length, 1000);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
