/* SPDX-License-Identifier: MIT */
/*
 * Rows of text files: counters of the kernel, in every format that its files have. There is no
 * program.
 */
#include "metric.bpf.h"

struct usage {
	u64 usage_us METRIC("derive-usage") FIELD("usage_usec");
	u64 user_us METRIC("derive-user") FIELD("user_usec");
	u64 system_us METRIC("derive-system") FIELD("system_usec");
	u64 absent METRIC("derive-absent") FIELD("no_such_thing");
};

FILE_TABLE(usages, u32, struct usage, 1) SUBJECT("service") FILE("cgroup:cpu.stat");

struct pressure {
	u64 some_us METRIC("derive-some") FIELD("some total");
	u64 full_us METRIC("percent-full rate scale=1/10000") FIELD("full total");
	u64 some_10 METRIC("gauge-some_10 scale=1/100") FIELD("some avg10 decimals=2");
};

FILE_TABLE(pressures, u32, struct pressure, 1) SUBJECT("service") FILE("cgroup:cpu.pressure");

struct machine {
	u64 some_us METRIC("derive-machine") FIELD("some total");
};

FILE_TABLE(machine, u32, struct machine, 1) SUBJECT("probe") FILE("/proc/pressure/cpu");

struct root {
	u64 usage_us METRIC("derive-root") FIELD("usage_usec");
};

FILE_TABLE(root, u32, struct root, 1) SUBJECT("probe") FILE("cgroup:cpu.stat");

struct udp {
	u64 datagrams METRIC("derive-datagrams") FIELD("Udp InDatagrams");
};

FILE_TABLE(udp, u32, struct udp, 1) SUBJECT("probe") FILE("/proc/net/snmp pairs");

struct load {
	u64 load METRIC("gauge-load scale=1/100") FIELD("1 decimals=2");
};

FILE_TABLE(load, u32, struct load, 1) SUBJECT("probe") FILE("/proc/loadavg lines");

struct softirq_key {
	u32 cpu LABEL("cpu") FIELD("2");
	char kind[16] LABEL("string") FIELD("1");
};

struct softirq {
	u64 count METRIC("irq") FIELD("3");
};

FILE_TABLE(softirqs, struct softirq_key, struct softirq, 4096)
SUBJECT("key") FILE("/proc/softirqs cells only=NET_*");

struct interface_key {
	char name[16] LABEL("interface") FIELD("1");
};

struct interface_row {
	u64 rx METRIC("if_octets:rx") FIELD("2");
	u64 tx METRIC("if_octets:tx") FIELD("10");
};

FILE_TABLE(interfaces, struct interface_key, struct interface_row, 64)
SUBJECT("key") FILE("/proc/net/dev lines skip=2");

struct disk_key {
	char name[32] LABEL("device") FIELD("*");
};

struct disk {
	u64 reads METRIC("disk_ops:read") FIELD("1");
	u64 writes METRIC("disk_ops:write") FIELD("5");
};

FILE_TABLE(disks, struct disk_key, struct disk, 256) SUBJECT("key") FILE("/sys/block/*/stat lines");

char LICENSE[] SEC("license") = "Dual MIT/GPL";
