/* SPDX-License-Identifier: MIT */
/*
 * A probe for tests: how long the threads of each process lived, counted at their exits; so the
 * last event of a process comes when it has exited.
 *
 * Hooks: tp_btf sched_process_exit.
 */
#include "services/process_slot.bpf.h"

struct lives_row {
	u64 ended METRIC("derive-lives rank");
	struct hist life_ns METRIC("latency-life scale=1/1000000000");
};

MMAP_ARRAY(lives, struct lives_row, 1)
SUBJECT("process via=process_slots owners=process_slot_owners");

SEC("tp_btf/sched_process_exit")
int BPF_PROG(lives_exit, struct task_struct *task)
{
	u32 slot = process_slot(task);
	struct lives_row *row = slot ? bpf_map_lookup_elem(&lives, &slot) : NULL;

	if (!row)
		return 0;
	add(&row->ended, 1);
	hist_add(&row->life_ns, bpf_ktime_get_boot_ns() - task->start_boottime);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
