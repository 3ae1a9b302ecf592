/* SPDX-License-Identifier: MIT */
/*
 * A probe for tests with a parameter of each type, and variables that are no parameters. It counts
 * the renames that its parameters select.
 *
 * Hooks: tp_btf task_rename.
 */
#include "metric.bpf.h"

enum color { RED, GREEN };

const volatile bool on = true;
const volatile u8 u8_most RANGE(0, 200) = 1;
const volatile __s8 s8_least = -1;
const volatile u16 u16_most = 1;
const volatile __s16 s16_least = -1;
const volatile u32 u32_most = 1;
const volatile s32 s32_least = -1;
const volatile u64 u64_most = 1;
const volatile s64 s64_least RANGE(-0x8000000000000000, 5) = -1;
const volatile enum color color = RED;
const volatile u32 badly RANGE(5, 1) = 1;
const volatile u8 wide RANGE(0, 256) = 1;

/* No parameters. */
const volatile u32 service_rows = 1;
const volatile bool option_extra = false;
const volatile u32 many[2] = { 1, 2 };
const volatile struct pair {
	u32 a, b;
} pair = { 1, 2 };
const volatile __int128 huge = 1;
const volatile void *const volatile pointer = 0;
u32 written = 1;

struct row {
	u64 renames METRIC("derive-renames");
	u64 sum METRIC("gauge-sum");
	s64 least METRIC("gauge-least");
	u64 most METRIC("gauge-most");
};

MMAP_ARRAY(parameters, struct row, 1) SUBJECT("probe");

SEC("tp_btf/task_rename")
int BPF_PROG(parameters_rename, struct task_struct *task)
{
	u32 zero = 0;
	struct row *row = bpf_map_lookup_elem(&parameters, &zero);

	if (!row)
		return 0;
	row->sum = (u64)u8_most + u16_most + u32_most + color + written + many[0] + pair.a +
		   (u64)huge + badly + wide + service_rows + option_extra + (u64)pointer;
	row->least = (s64)s8_least + s16_least + s32_least;
	row->most = u64_most + (u64)s64_least;
	if (on)
		add(&row->renames, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
