/* SPDX-License-Identifier: MIT */
/*
 * What may go wrong: a full hash, keys that vanish and come back, a bucket that no histogram has,
 * and bad names.
 */
#include "foreign.h"

#define HOSTILE(name, map_type, bytes, entries)    \
	struct {                                   \
		__uint(type, map_type);            \
		__uint(max_entries, entries);      \
		__uint(key_size, bytes);           \
		__uint(value_size, sizeof(__u64)); \
	} name SEC(".maps")

HOSTILE(full, BPF_MAP_TYPE_HASH, 4, 8);
HOSTILE(vanishing, BPF_MAP_TYPE_HASH, 4, 8);
HOSTILE(buckets_of_others, BPF_MAP_TYPE_HASH, 8, 64);
HOSTILE(names_of_others, BPF_MAP_TYPE_HASH, 16, 64);

SEC("raw_tp/sys_enter")
int hostile_enter(struct bpf_raw_tracepoint_args *ctx)
{
	static const char names[4][16] = { "other", "../../x", "self", "\x1b[2J\n" };
	__u64 n = next_call(ctx->args), bucket = n % 2 ? 3 : n << 20;
	__u32 key = n % 20, one = 1, two = 2;
	char name[16];

	if (!n)
		return 0;
	increase(&full, &key, 1);
	increase(&vanishing, &one, 1);
	increase(&vanishing, &two, 1);
	if (n % 100 == 0)
		bpf_map_delete_elem(&vanishing, &two);
	increase(&buckets_of_others, &bucket, 1);
	__builtin_memcpy(name, names[n & 3], 16);
	increase(&names_of_others, name, 1);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
