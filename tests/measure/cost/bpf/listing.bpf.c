/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The method of Listing 1 of the paper on request-level metrics, carried out
 * for all that the paper measures: at the begin of each system call of the
 * families poll, receive and send the time goes into a hash map, at its end it
 * is fetched; of poll calls the duration is counted, of the others the gap
 * since the call before, with the squares that equation 2 needs.
 */
#include "kernel.bpf.h"
#include "listing.h"

const volatile struct listing watched = {};

struct statistic {
	u64 count;
	u64 sum;
	u64 squares;
	u64 last_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 10240);
	__type(key, u64);
	__type(value, u64);
} start SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4);
	__type(key, u32);
	__type(value, struct statistic);
} statistics SEC(".maps");

struct sys_enter {
	u64 common;
	long id;
	unsigned long args[6];
};

struct sys_exit {
	u64 common;
	long id;
	long ret;
};

static u32 wanted(u64 pid_tgid, long id)
{
	if (pid_tgid >> 32 != watched.tgid || id < 0 || id >= LISTED_CALLS)
		return FAMILY_NONE;
	return watched.family_of[id];
}

static void count(u32 family, u64 start_ns, u64 end_ns)
{
	struct statistic *s = bpf_map_lookup_elem(&statistics, &family), none = {};
	u64 value;

	if (!s) {
		bpf_map_update_elem(&statistics, &family, &none, BPF_NOEXIST);
		s = bpf_map_lookup_elem(&statistics, &family);
		if (!s)
			return;
	}
	value = end_ns - (family == FAMILY_POLL ? start_ns : s->last_ns);
	s->last_ns = end_ns;
	__sync_fetch_and_add(&s->count, 1);
	__sync_fetch_and_add(&s->sum, value);
	__sync_fetch_and_add(&s->squares, value * value);
}

SEC("tracepoint/raw_syscalls/sys_enter")
int listing_enter(struct sys_enter *ctx)
{
	u64 pid_tgid = bpf_get_current_pid_tgid(), now;

	if (!wanted(pid_tgid, ctx->id))
		return 0;
	now = bpf_ktime_get_ns();
	bpf_map_update_elem(&start, &pid_tgid, &now, BPF_ANY);
	return 0;
}

SEC("tracepoint/raw_syscalls/sys_exit")
int listing_exit(struct sys_exit *ctx)
{
	u64 pid_tgid = bpf_get_current_pid_tgid(), *start_ns;
	u32 family = wanted(pid_tgid, ctx->id);

	if (!family)
		return 0;
	start_ns = bpf_map_lookup_elem(&start, &pid_tgid);
	if (start_ns)
		count(family, *start_ns, bpf_ktime_get_ns());
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
