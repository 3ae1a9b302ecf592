/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Limits: what the cgroup of a service may use of CPUs and memory, and how often and how long it
 * waited because of that, or lost a process.
 *
 * Hooks: none. The kernel counts all of this; the files of the cgroup are read, with the names of
 * cgroup2 also where a controller has a hierarchy of its own (v1).
 *
 * Limits: limits of cgroups above, of a slice or a pod, apply as well but are not reported here. A
 * service with several cgroups has no limit of its own; their counters are added up.
 */
#include "metric.bpf.h"

struct cpu_limit {
	u64 quota_us METRIC("gauge-cpu_limit_percent of=period_us scale=100/1")
		UNIT("percent of one CPU") FIELD("1")
			HELP("CPU limit: quota divided by period, from cpu.max");
	u64 period_us FIELD("2");
};

FILE_TABLE(cpu_limits, u32, struct cpu_limit, 1)
SUBJECT("service") FILE("cgroup:cpu.max lines controller=cpu limited=cpu.max optional single");

struct throttling {
	u64 periods METRIC("total_events-cpu_periods") UNIT("periods") FIELD("nr_periods")
		HELP("CPU periods: in which a task wanted to run, nr_periods of cpu.stat")
			DEFAULT(off);
	u64 throttled METRIC("total_events-cpu_periods_throttled") UNIT("periods") FIELD(
		"nr_throttled")
		HELP("CPU periods, throttled: in which the quota was used up, nr_throttled of cpu.stat")
			DEFAULT(off);
	u64 throttled_ratio METRIC("percent-cpu_periods_throttled per=periods scale=100/1")
		UNIT("percent") FIELD("nr_throttled") HELP(
			"Throttled share: periods in which the quota was used up, of all periods");
	u64 time_us METRIC("total_time_in_ms-cpu_throttled scale=1/1000") UNIT("milliseconds")
		FIELD("throttled_usec")
			HELP("CPU time, throttled: of all CPUs, throttled_usec of cpu.stat")
				DEFAULT(off);
};

FILE_TABLE(throttlings, u32, struct throttling, 1)
SUBJECT("service") FILE("cgroup:cpu.stat controller=cpu limited=cpu.max optional");

struct memory_limit {
	u64 bytes METRIC("memory-limit") UNIT("bytes") FIELD("1")
		HELP("Memory limit: from memory.max");
};

FILE_TABLE(memory_limits, u32, struct memory_limit, 1)
SUBJECT("service")
FILE("cgroup:memory.max lines controller=memory limited=memory.max optional single");

struct memory_events {
	u64 kills METRIC("total_events-cgroup_oom_kills") UNIT("kills") FIELD("oom_kill")
		HELP("OOM kills in the cgroup: oom_kill of memory.events") DEFAULT(off);
};

FILE_TABLE(memory_events, u32, struct memory_events, 1)
SUBJECT("service") FILE("cgroup:memory.events controller=memory limited=memory.max optional");

char LICENSE[] SEC("license")
	HELP("Limits: CPU and memory limits of services' cgroups, and throttling") = "Dual MIT/GPL";
