/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The frequency of each CPU, as the kernel's cpufreq reports it.
 *
 * Hooks: none.
 *
 * Limits: CPUs whose frequency nothing scales, as in most virtual machines, have no such file. The
 * value is the frequency at the moment of the reading, and the reading itself makes a CPU busy.
 */
#include "metric.bpf.h"

struct cpufreq_key {
	u32 cpu LABEL("cpu") FIELD("*");
};

struct cpufreq_row {
	u64 khz METRIC("cpufreq scale=1000/1") UNIT("hertz") FIELD("1")
		HELP("CPU frequency: at the reading, from scaling_cur_freq");
};

FILE_TABLE(frequencies, struct cpufreq_key, struct cpufreq_row, 4096)
SUBJECT("key") FILE("/sys/devices/system/cpu/cpu*/cpufreq/scaling_cur_freq lines");

char LICENSE[] SEC("license") DEFAULT(off) HELP("CPU frequency: of each CPU") = "Dual MIT/GPL";
