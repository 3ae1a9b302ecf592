/* SPDX-License-Identifier: MIT */
/*
 * A map for each way to name a key: its bytes are those that the kernel would store there.
 */
#include "foreign.h"

#define NAMES(name, bytes)                         \
	struct {                                   \
		__uint(type, BPF_MAP_TYPE_HASH);   \
		__uint(max_entries, 64);           \
		__uint(key_size, bytes);           \
		__uint(value_size, sizeof(__u64)); \
	} name SEC(".maps")

NAMES(numbers, 16);
NAMES(kernels, 40);
NAMES(addresses, 20);
NAMES(texts, 32);
NAMES(labels_many, 64);
NAMES(cgroups, 8);
NAMES(functions, 8);
NAMES(group_services, 8);

enum shade { DARK = 1, BRIGHT = 200 };

struct enum_key {
	enum shade shade;
	char word[12];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, struct enum_key);
	__type(value, __u64);
} enums SEC(".maps");

const volatile __u64 cgroup, function, device_stat, interface;

static __always_inline void count_numbers(__u64 n)
{
	__u8 key[16] = { 0xfe, 0xff,          /* -2 */
			 0x01, 0x02, 0x03,    /* 3 bytes, big endian: 66051 */
			 0x01, 0x02, 0x03,    /* 3 bytes, little endian: 197121 */
			 0x30, 0x39, 0,    0, /* 12345 in network order */
			 0xde, 0xad, 0,    n % 3 };

	increase(&numbers, key, 1);
}

/* errno, signal, system call, user, CPU, interface, device, each of 4 or 8 bytes. */
static __always_inline void count_kernels(__u64 n)
{
	__u32 key[10] = { 2, 15, 1, 0, n % 2, 8U << 20 | 1, 0, 3, 0, 0 };

	key[6] = device_stat;
	key[8] = interface;
	increase(&kernels, key, 1);
}

static __always_inline void count_addresses(__u64 n)
{
	__u8 key[20] = { 192, 0, 2, n % 2, 0x20, 0x01, 0x0d, 0xb8, [19] = 1 };

	increase(&addresses, key, 1);
}

static __always_inline void count_texts(__u64 n)
{
	static const char words[4][16] = { "kswapd0", "systemd-journal", "a/b c\xff", "" };
	char key[32] = {};

	__builtin_memcpy(key, words[n & 3], 16);
	__builtin_memcpy(key + 16, "\7example\3com", 13);
	increase(&texts, key, 1);
}

/* Eight parts of 8 digits: too long for the name of a series. */
static __always_inline void count_many(__u64 n)
{
	char key[64];

	for (int i = 0; i < 64; i++)
		key[i] = 'a' + (i & 7);
	key[63] = '0' + n % 3;
	key[7] = '0' + n % 2;
	increase(&labels_many, key, 1);
}

static __always_inline void count_enums(__u64 n)
{
	struct enum_key key = { .shade = n % 3 == 0 ? 7 : n % 3 == 1 ? DARK : BRIGHT };

	__builtin_memcpy(key.word, "word", 5);
	increase(&enums, &key, 1);
}

SEC("raw_tp/sys_enter")
int names_enter(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 n = next_call(ctx->args), key;

	if (!n)
		return 0;
	count_numbers(n);
	count_kernels(n);
	count_addresses(n);
	count_texts(n);
	count_many(n);
	count_enums(n);
	key = cgroup;
	increase(&cgroups, &key, 1);
	increase(&group_services, &key, 1);
	key = function;
	increase(&functions, &key, 1);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
