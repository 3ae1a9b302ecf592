/* SPDX-License-Identifier: MIT */
/*
 * Maps of every kind and shape: hashes and arrays, per CPU or not, keys and values with BTF and
 * without.
 */
#include "foreign.h"

struct shape_key {
	__u32 color;
	__u8 size;
	__u16 weight;
};

#define SHAPE_PADDING_AT 5 /* of shape_key: as if a program had left old stack contents there */

struct shape_value {
	__u32 once;
	__u16 twice;
	__u8 untold;
	__u64 thrice;
};

#define SHAPE(name, map_type, key_type, value_type, entries) \
	struct {                                             \
		__uint(type, map_type);                      \
		__uint(max_entries, entries);                \
		__type(key, key_type);                       \
		__type(value, value_type);                   \
	} name SEC(".maps")

SHAPE(plain_hash, BPF_MAP_TYPE_HASH, __u64, __u64, 100000);
SHAPE(plain_lru, BPF_MAP_TYPE_LRU_HASH, __u64, __u64, 64);
SHAPE(percpu_hash, BPF_MAP_TYPE_PERCPU_HASH, __u64, __u64, 64);
SHAPE(percpu_lru, BPF_MAP_TYPE_LRU_PERCPU_HASH, __u64, __u64, 64);
SHAPE(plain_array, BPF_MAP_TYPE_ARRAY, __u32, __u64, 4);
SHAPE(single, BPF_MAP_TYPE_ARRAY, __u32, __u64, 1);
SHAPE(percpu_array, BPF_MAP_TYPE_PERCPU_ARRAY, __u32, __u64, 4);
SHAPE(each_array, BPF_MAP_TYPE_PERCPU_ARRAY, __u32, __u64, 4);
SHAPE(struct_hash, BPF_MAP_TYPE_HASH, struct shape_key, struct shape_value, 64);

/* An array that can be mapped, with values whose size is no multiple of 8 bytes. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u32);
} mapped_array SEC(".maps");

/* A map for which the object gives only the number of bytes. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__uint(key_size, 8);
	__uint(value_size, 24);
} bare_hash SEC(".maps");

static __always_inline void count_structs(__u64 n)
{
	struct shape_value *value, none = {};
	struct shape_key key;

	/* An initializer does not clear the padding. */
	__builtin_memset(&key, 0, sizeof(key));
	key.color = n % 3;
	key.size = n % 2;
	key.weight = 7;
	((__u8 *)&key)[SHAPE_PADDING_AT] = n / 6 % 2;
	bpf_map_update_elem(&struct_hash, &key, &none, BPF_NOEXIST);
	value = bpf_map_lookup_elem(&struct_hash, &key);
	if (!value)
		return;
	__sync_fetch_and_add(&value->once, 1);
	value->twice += 2;
	__sync_fetch_and_add(&value->thrice, 3);
}

static __always_inline void count_bytes(__u64 n)
{
	__u8 key[8] = { 1, n % 2, 0, 0x12, 0x34, 0x56, n % 5, 0xff };
	__u64 *value, none[3] = {};

	bpf_map_update_elem(&bare_hash, key, none, BPF_NOEXIST);
	value = bpf_map_lookup_elem(&bare_hash, key);
	if (value)
		value[1]++;
}

SEC("raw_tp/sys_enter")
int shapes_enter(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 n = next_call(ctx->args), key = n % 5;
	__u32 index = n % 4, zero = 0;

	if (!n)
		return 0;
	increase(&plain_hash, &key, 1);
	increase(&plain_lru, &key, 2);
	increase(&percpu_hash, &key, 3);
	increase(&percpu_lru, &key, 4);
	increase(&plain_array, &index, 5);
	increase(&single, &zero, 6);
	increase(&percpu_array, &index, 7);
	increase(&each_array, &index, 8);
	count_structs(n);
	count_bytes(n);
	__u32 *narrow = bpf_map_lookup_elem(&mapped_array, &index);
	if (narrow)
		__sync_fetch_and_add(narrow, 9);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
