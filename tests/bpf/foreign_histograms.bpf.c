/* SPDX-License-Identifier: MIT */
/*
 * Histograms of every kind, of the values 1 to 100: buckets by key with the sum after them, in
 * hashes and arrays, and an array of buckets as the value.
 */
#include "foreign.h"

#define LAST 7

struct bucket_key {
	__u32 half;
	__u32 bucket;
};

#define BUCKETS(name, map_type, key_type, entries) \
	struct {                                   \
		__uint(type, map_type);            \
		__uint(max_entries, entries);      \
		__type(key, key_type);             \
		__type(value, __u64);              \
	} name SEC(".maps")

BUCKETS(powers, BPF_MAP_TYPE_HASH, struct bucket_key, 64);
BUCKETS(powers_of_cpus, BPF_MAP_TYPE_PERCPU_ARRAY, __u32, LAST + 2);
BUCKETS(with_zero, BPF_MAP_TYPE_LRU_HASH, struct bucket_key, 64);
BUCKETS(steps, BPF_MAP_TYPE_HASH, struct bucket_key, 64);
BUCKETS(bounds, BPF_MAP_TYPE_HASH, struct bucket_key, 64);

struct slots {
	__u32 slot[LAST + 1];
	char name[8];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, struct slots);
} within SEC(".maps");

static __always_inline void count_bucket(void *map, __u32 half, __u32 bucket, __u32 last,
					 __u64 value)
{
	struct bucket_key key = { half, bucket < last ? bucket : last };

	increase(map, &key, 1);
	key.bucket = last + 1;
	if (value)
		increase(map, &key, value);
}

static __always_inline void count_slot(__u32 half, __u32 power)
{
	struct slots *slots, none = { .name = "of bcc" };

	bpf_map_update_elem(&within, &half, &none, BPF_NOEXIST);
	slots = bpf_map_lookup_elem(&within, &half);
	if (slots && power <= LAST)
		__sync_fetch_and_add(&slots->slot[power], 1);
}

SEC("raw_tp/sys_enter")
int histograms_enter(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 n = next_call(ctx->args), value = (n - 1) % 100 + 1;
	__u32 half = value > 50, power = power_of(value), sum = LAST + 1;
	__u32 bound = value <= 10 ? 10 : value <= 25 ? 25 : 1000;

	if (!n)
		return 0;
	count_bucket(&powers, half, power, LAST, value);
	increase(&powers_of_cpus, &power, 1);
	increase(&powers_of_cpus, &sum, value);
	count_bucket(&with_zero, half, value % 4 ? power + 1 : 0, LAST + 1, value % 4 ? value : 0);
	count_bucket(&steps, half, value / 10, 10, value / 10);
	struct bucket_key key = { half, bound };
	increase(&bounds, &key, 1);
	key.bucket = 1001;
	increase(&bounds, &key, value);
	count_slot(half, power);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
