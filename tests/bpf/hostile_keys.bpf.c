/* SPDX-License-Identifier: MIT */
/*
 * Rows by key in maps of every kind that can have them, growing by known numbers at each walk; and
 * a table with new keys at each walk, with names that no series can have. It hooks nothing.
 */
#include "metric.bpf.h"

#define CHURN 2000 /* new keys at a walk */

struct walk_row {
	u64 walks METRIC("derive-walks");
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct walk_row);
} walked SEC(".maps") SUBJECT("probe");

struct signal_key {
	u32 untold;
	u32 number LABEL("signal");
};

#define TABLE(name, map_type)                      \
	struct name##_row {                        \
		u64 count METRIC("derive-" #name); \
	};                                         \
	struct {                                   \
		__uint(type, map_type);            \
		__uint(max_entries, 64);           \
		__type(key, struct signal_key);    \
		__type(value, struct name##_row);  \
	} name SEC(".maps") SUBJECT("key")

TABLE(hash, BPF_MAP_TYPE_HASH);
TABLE(lru_hash, BPF_MAP_TYPE_LRU_HASH);
TABLE(percpu_hash, BPF_MAP_TYPE_PERCPU_HASH);
TABLE(lru_percpu_hash, BPF_MAP_TYPE_LRU_PERCPU_HASH);

/* Values whose size is no multiple of 8 bytes are packed in a batch. */
struct narrow_row {
	u32 count METRIC("derive-narrow");
	u32 untold[2];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, struct signal_key);
	__type(value, struct narrow_row);
} narrow SEC(".maps") SUBJECT("key");

struct array_row {
	u64 count METRIC("derive-array");
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 4);
	__type(key, u32);
	__type(value, struct array_row);
} array SEC(".maps") SUBJECT("key label=signal");

struct text_key {
	char text[16] LABEL("string");
};

struct text_row {
	u64 count METRIC("derive-text");
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct text_key);
	__type(value, struct text_row);
} texts SEC(".maps") SUBJECT("key");

static u64 made;

/* Two keys of each name add up. */
static void count(void *map, u32 untold, u32 number, u64 n)
{
	struct signal_key key = { .untold = untold, .number = number };
	u64 *row = bpf_map_lookup_elem(map, &key), zero = 0;

	if (!row) {
		bpf_map_update_elem(map, &key, &zero, BPF_NOEXIST);
		row = bpf_map_lookup_elem(map, &key);
	}
	if (row)
		add(row, n);
}

static void count_narrow(u32 untold, u32 number, u32 n)
{
	struct signal_key key = { .untold = untold, .number = number };
	struct narrow_row *row = bpf_map_lookup_elem(&narrow, &key), none = {};

	if (!row) {
		bpf_map_update_elem(&narrow, &key, &none, BPF_NOEXIST);
		row = bpf_map_lookup_elem(&narrow, &key);
	}
	if (row)
		row->count += n;
}

static void count_all(u32 untold, u32 number, u64 n)
{
	count(&hash, untold, number, n);
	count(&lru_hash, untold, number, n);
	count(&percpu_hash, untold, number, n);
	count(&lru_percpu_hash, untold, number, n);
	count_narrow(untold, number, n);
}

static long count_number(u32 i, void *ctx)
{
	u32 number = i + 1;
	struct array_row *at = bpf_map_lookup_elem(&array, &number);

	count_all(0, number, number);
	count_all(1, number, 10 * number);
	if (at)
		add(&at->count, 11 * number);
	return 0;
}

static long make_text(u32 i, void *ctx)
{
	struct text_key key = { .text = "../a\n\xff-%s other" };
	u64 one = 1;

	for (u32 digit = 0; digit < 4; digit++)
		key.text[12 + digit] = '0' + (made >> 4 * digit & 15);
	made++;
	bpf_map_update_elem(&texts, &key, &one, BPF_ANY);
	return 0;
}

SEC("iter/task")
int keys_walk(struct bpf_iter__task *ctx)
{
	u32 zero = 0;
	struct walk_row *row = bpf_map_lookup_elem(&walked, &zero);

	if (!row || ctx->task)
		return 0;
	row->walks++;
	/* To Linux 6.1 a plain loop looks endless here. */
	bpf_loop(3, count_number, NULL, 0);
	bpf_loop(CHURN, make_text, NULL, 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
