/* SPDX-License-Identifier: MIT */
/*
 * A probe for tests whose programs differ in their stack frames: a large one, in a function; the
 * same, where the program begins with on_stack_of_thread(); and a small one.
 *
 * Hooks: uprobe and uretprobe, by Attach.
 */
#include "metric.bpf.h"
#include "preempt.bpf.h"

struct row {
	u64 calls METRIC("derive-calls");
};

MMAP_ARRAY(frame, struct row, 1) SUBJECT("probe");

static __noinline int count(void)
{
	char room[80] = "";
	u32 zero = 0;
	struct row *row = bpf_map_lookup_elem(&frame, &zero);

	bpf_get_current_comm(room, sizeof(room));
	if (row)
		add(&row->calls, room[0] != '\0');
	return 0;
}

SEC("uprobe")
int frame_large(void *ctx)
{
	return count();
}

SEC("uretprobe")
int frame_of_thread(void *ctx)
{
	on_stack_of_thread();
	return count();
}

SEC("uprobe")
int frame_small(void *ctx)
{
	u32 zero = 0;
	struct row *row = bpf_map_lookup_elem(&frame, &zero);

	if (row)
		add(&row->calls, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
