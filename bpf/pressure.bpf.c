/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Pressure: how much of the time tasks of a service were stalled for lack of CPUs, memory or disk
 * (PSI). `some`: at least one task of it; `full`: all tasks that were not idle, at the same time.
 *
 * Hooks: none. The kernel counts it for each cgroup of cgroup2, with psi=1 on its command line
 * where that is not the default; the files of the cgroup are read.
 *
 * Limits: a service with several cgroups has the value of the cgroup that waited most, because
 * times in which several wait at once do not add up. The kernel updates its figures every 2 s.
 */
#include "metric.bpf.h"

#define PERCENT " rate scale=1/10000" /* of the time, from microseconds per second */

struct cpu_pressure {
	u64 some_us METRIC("percent-pressure_cpu_some" PERCENT) UNIT("percent") FIELD("some total")
		HELP("CPU pressure, some: time in which a task waited for a CPU");
	u64 full_us METRIC("percent-pressure_cpu_full" PERCENT) UNIT("percent") FIELD("full total")
		HELP("CPU pressure, full: time in which all tasks waited, for example at a CPU limit");
};

FILE_TABLE(cpu_pressures, u32, struct cpu_pressure, 1)
SUBJECT("service") FILE("cgroup:cpu.pressure highest");

struct io_pressure {
	u64 some_us METRIC("percent-pressure_io_some" PERCENT) UNIT("percent") FIELD("some total")
		HELP("I/O pressure, some: time in which a task waited for a disk");
	u64 full_us METRIC("percent-pressure_io_full" PERCENT) UNIT("percent") FIELD("full total")
		HELP("I/O pressure, full: time in which all tasks waited");
};

FILE_TABLE(io_pressures, u32, struct io_pressure, 1)
SUBJECT("service") FILE("cgroup:io.pressure highest");

struct memory_pressure {
	u64 some_us METRIC("percent-pressure_memory_some" PERCENT) UNIT("percent")
		FIELD("some total")
			HELP("Memory pressure, some: time in which a task waited for memory");
	u64 full_us METRIC("percent-pressure_memory_full" PERCENT) UNIT("percent")
		FIELD("full total") HELP("Memory pressure, full: time in which all tasks waited");
};

FILE_TABLE(memory_pressures, u32, struct memory_pressure, 1)
SUBJECT("service") FILE("cgroup:memory.pressure highest");

char LICENSE[] SEC("license") DEFAULT(off)
	HELP("Pressure: share of time in which services waited for CPUs, memory and disks") =
		"Dual MIT/GPL";
