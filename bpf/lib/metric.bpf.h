/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Tags: how a probe says what it counts. collectd-ebpf-objects(7) describes each tag and its words.
 */
#ifndef METRIC_BPF_H
#define METRIC_BPF_H

#include "kernel/sched.bpf.h"
#include "map.bpf.h"
#include "hist.h"

/* u64 reads METRIC("disk_ops:read rate"); in a row */
#define METRIC(text) __attribute__((btf_decl_tag("metric:" text)))
/* MMAP_ARRAY(rows, struct row, 1) SUBJECT("service sharded"); */
#define SUBJECT(text) __attribute__((btf_decl_tag("subject:" text)))
/* u32 number LABEL("signal"); in a key */
#define LABEL(word) __attribute__((btf_decl_tag("label:" word)))
/* u64 time_ns METRIC("duration scale=1/1000000000") UNIT("seconds"); */
#define UNIT(text) __attribute__((btf_decl_tag("unit:" text)))
/* u64 count METRIC("total_events-signal") HELP("Signals: delivered to processes, by name"); */
#define HELP(text) __attribute__((btf_decl_tag("help:" text)))
/* RINGBUF(kills, struct kill, 64 * 1024) EVENT("failure total_events-kills {comm} of {service}"); */
#define EVENT(text) __attribute__((btf_decl_tag("event:" text)))
/* SEC("iter/task") SAMPLE("hz=50") int sample(struct bpf_iter__task *ctx) */
#define SAMPLE(text) __attribute__((btf_decl_tag("sample:" text)))
/* SEC("perf_event") PERIODIC("hz=99") int profile(struct bpf_perf_event_data *ctx) */
#define PERIODIC(text) __attribute__((btf_decl_tag("periodic:" text)))
/* RINGBUF(waits, struct stack_head, 512 * 1024) STACKS("waits unit=microseconds"); */
#define STACKS(text) __attribute__((btf_decl_tag("stacks:" text)))
/* SEC("tp_btf/softirq_raise") OPTION("latency") int BPF_PROG(raise) */
#define OPTION(name) __attribute__((btf_decl_tag("option:" name)))
/* PERCPU_HASH(lines, struct key, struct row, 1024) SUBJECT("key") BY_CPU("cpus"); */
#define BY_CPU(option) __attribute__((btf_decl_tag("by_cpu:" option)))
/* SEC("iter/bpf_map_elem") ITER_MAP(ports) int walk(struct bpf_iter__bpf_map_elem *ctx) */
#define ITER_MAP(map) __attribute__((btf_decl_tag("iter_map:" #map)))
/* SEC("iter/task_file") WHEN(files_wanted) int walk(struct bpf_iter__task_file *ctx) */
#define WHEN(variable) __attribute__((btf_decl_tag("when:" #variable)))
/* const volatile u64 slow_ns RANGE(1, 60000000000) = 10000000; */
#define RANGE(low, high) __attribute__((btf_decl_tag("range:" #low ".." #high)))
/* FILE_TABLE(loads, u32, struct load, 1) SUBJECT("probe") FILE("/proc/loadavg lines"); */
#define FILE(text) __attribute__((btf_decl_tag("file:" text)))
/* u64 load METRIC("gauge-load scale=1/100") FIELD("1 decimals=2"); in a row of a file */
#define FIELD(text) __attribute__((btf_decl_tag("field:" text)))
/* A table whose rows are read from files; no map is created. */
#define FILE_TABLE(name, key, row, rows) HASH(name, key, row, rows)
/* u64 rare METRIC("gauge-rare") DEFAULT(off); */
#define DEFAULT(state) __attribute__((btf_decl_tag("default:" #state)))
/* ARRAY(walks, struct walk_state, 1) SHARED(1); */
#define SHARED(layout) __attribute__((btf_decl_tag("shared:" #layout)))
/* SEC("fexit/filemap_read") HOOK_SET(2) int BPF_PROG(read) */
#define HOOK_SET(number) __attribute__((btf_decl_tag("hook_set:" #number)))
#ifdef EBPF_VERSION
#define VERSION_TAG(version) __attribute__((btf_decl_tag("version:" #version)))
#define VERSION_OF(version) VERSION_TAG(version)
/* The plugin that this object was built with. Objects of others do not name one. */
extern char LICENSE[] VERSION_OF(EBPF_VERSION);
#endif

/* For the mean and variance of samples. The sum of squares is split into limbs of 32 bits, each in
 * a counter of its own: several CPUs may add at once without carry, and values below 2^48 do not
 * overflow. */
struct moments {
	u64 count;
	u64 sum;
	u64 squares[3];
};

/* The mean is exact if all values are added to the sum; it is taken from the buckets if none is. */
struct hist {
	u64 bucket[HIST_BUCKETS];
	u64 sum;
};

static __always_inline void add(u64 *counter, u64 n)
{
	__sync_fetch_and_add(counter, n);
}

/* The growth of a counter; 0 if another CPU read it later. */
static __always_inline u64 grown(u64 now, u64 before)
{
	return now > before ? now - before : 0;
}

static __always_inline void moments_add(struct moments *m, u64 value)
{
	u64 high = value >> 32, low = (u32)value;
	u64 cross = 2 * high * low;
	u64 mid = (low * low >> 32) + (u32)cross;

	add(&m->count, 1);
	add(&m->sum, value);
	add(&m->squares[0], (u32)(low * low));
	add(&m->squares[1], (u32)mid);
	add(&m->squares[2], high * high + (cross >> 32) + (mid >> 32));
}

/* Without the sum. The bucket is in a 64-bit register, for which verifiers of older kernels keep
 * bounds. */
static __always_inline void hist_count(struct hist *h, u64 bucket, u64 n)
{
	asm volatile("" : "+r"(bucket));
	if (bucket < HIST_BUCKETS)
		add(&h->bucket[bucket], n);
}

/* The same with the sum, where the bucket of the value is known. */
static __always_inline void hist_add_at(struct hist *h, u64 bucket, u64 value)
{
	hist_count(h, bucket, 1);
	add(&h->sum, value);
}

static __always_inline void hist_add(struct hist *h, u64 value)
{
	hist_add_at(h, hist_index(value), value);
}

#endif
