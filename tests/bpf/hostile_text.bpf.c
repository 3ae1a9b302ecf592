/* SPDX-License-Identifier: MIT */
/*
 * A table of a file; a test replaces the dots by another path, padded with spaces.
 */
#include "metric.bpf.h"

struct key {
	char text[64] LABEL("string") FIELD("1");
};

struct row {
	u64 number METRIC("derive-hostile") FIELD("2");
};

FILE_TABLE(hostile, struct key, struct row, 4)
SUBJECT("key") FILE("/proc/........................................ lines");

char LICENSE[] SEC("license") = "Dual MIT/GPL";
