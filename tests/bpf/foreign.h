/* SPDX-License-Identifier: MIT */
/*
 * Common parts of objects that know nothing of this project: they include only libbpf's headers,
 * have no tags, and count the getppid calls of one process. tests/kernel/test_foreign.py reads the
 * same maps by bpftool.
 */
#ifndef FOREIGN_H
#define FOREIGN_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#ifdef __TARGET_ARCH_arm64
#define SYS_GETPPID 173
#else
#define SYS_GETPPID 110
#endif

const volatile __u32 watched_pid; /* process whose calls count */
__u64 calls;

/* The number of a call, counted from 1; 0: it is not counted. For a single thread. */
static __always_inline __u64 next_call(const __u64 *arguments)
{
	if (arguments[1] != SYS_GETPPID || bpf_get_current_pid_tgid() >> 32 != watched_pid)
		return 0;
	return ++calls;
}

static __always_inline void increase(void *map, const void *key, __u64 by)
{
	__u64 *count = bpf_map_lookup_elem(map, key), zero = 0;

	if (!count) {
		bpf_map_update_elem(map, key, &zero, BPF_NOEXIST);
		count = bpf_map_lookup_elem(map, key);
	}
	if (count)
		__sync_fetch_and_add(count, by);
}

/* The smallest power of two that is not below value. */
static __always_inline __u64 power_of(__u64 value)
{
	__u64 power = 0;

	while (power < 20 && (1ULL << power) < value)
		power++;
	return power;
}

#endif
