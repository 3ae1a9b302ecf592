/* SPDX-License-Identifier: MIT */
/*
 * Tables of text files, each with one mistake.
 */
#include "metric.bpf.h"

struct row {
	u64 n METRIC("derive-n") FIELD("n");
};

struct key {
	char name[16] LABEL("string") FIELD("1");
};

struct service_key {
	u32 service LABEL("service");
};

FILE_TABLE(path, u32, struct row, 1) SUBJECT("probe") FILE("/etc/passwd");
struct ranked {
	u64 n METRIC("derive-n rank") FIELD("n");
};

FILE_TABLE(process, u32, struct ranked, 1) SUBJECT("process") FILE("cgroup:cpu.stat");
FILE_TABLE(service, u32, struct row, 1) SUBJECT("service") FILE("/proc/stat");
FILE_TABLE(sharded, u32, struct row, 1) SUBJECT("probe sharded") FILE("/proc/stat");
FILE_TABLE(word, u32, struct row, 1) SUBJECT("probe") FILE("/proc/net/snmp pairs");
FILE_TABLE(integer, u32, struct row, 1) SUBJECT("key label=cpu") FILE("/proc/stat lines");
FILE_TABLE(outside, struct service_key, struct row, 1) SUBJECT("key") FILE("/proc/stat lines");

struct untold {
	u64 n METRIC("derive-n") FIELD("n");
	u64 m METRIC("derive-m");
};

FILE_TABLE(untold, u32, struct untold, 1) SUBJECT("probe") FILE("/proc/stat");

struct narrow {
	u32 n METRIC("derive-n") FIELD("n");
};

FILE_TABLE(narrow, u32, struct narrow, 1) SUBJECT("probe") FILE("/proc/stat");

struct untold_key {
	char name[16] LABEL("string");
};

FILE_TABLE(untold_key, struct untold_key, struct row, 1) SUBJECT("key") FILE("/proc/stat lines");

struct service_field_key {
	u32 service LABEL("service") FIELD("1");
};

FILE_TABLE(service_field_key, struct service_field_key, struct row, 1)
SUBJECT("key") FILE("cgroup:io.stat lines");

struct star_key {
	char name[16] LABEL("string") FIELD("*");
};

FILE_TABLE(star, struct star_key, struct row, 1) SUBJECT("key") FILE("/proc/stat lines");
FILE_TABLE(fine, struct key, struct row, 16) SUBJECT("key") FILE("/proc/stat lines");
FILE_TABLE(many, struct key, struct row, 16385) SUBJECT("key") FILE("/proc/stat lines");

/* Without FILE. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct key);
	__type(value, struct row);
} fileless SEC(".maps") SUBJECT("key");

char LICENSE[] SEC("license") = "Dual MIT/GPL";
