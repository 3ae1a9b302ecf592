/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Empty programs: what one costs is its hook, the way into the program and back.
 *
 * Hooks: each kind that sees one and the same event, the naming of a thread; and those of system
 * calls, functions and markers of programs, samples, software interrupts and the scheduler.
 */
#include "kernel.bpf.h"

#define EMPTY(section, name) \
	SEC(section)         \
	int name(void *ctx)  \
	{                    \
		return 0;    \
	}

EMPTY("tp_btf/task_rename", rename_tp_btf)
EMPTY("raw_tp/task_rename", rename_raw_tp)
EMPTY("tracepoint/task/task_rename", rename_tracepoint)
EMPTY("fentry/__set_task_comm", rename_fentry)
EMPTY("fexit/__set_task_comm", rename_fexit)
EMPTY("kprobe/__set_task_comm", rename_kprobe)
EMPTY("kretprobe/__set_task_comm", rename_kretprobe)

EMPTY("tp_btf/sys_enter", call_tp_btf_enter)
EMPTY("tp_btf/sys_exit", call_tp_btf_exit)
EMPTY("raw_tp/sys_enter", call_raw_tp_enter)
EMPTY("raw_tp/sys_exit", call_raw_tp_exit)
EMPTY("tracepoint/syscalls/sys_enter_getppid", call_tracepoint_enter)
EMPTY("tracepoint/syscalls/sys_exit_getppid", call_tracepoint_exit)

EMPTY("uprobe", user_uprobe)
EMPTY("uretprobe", user_uretprobe)
EMPTY("usdt", user_marker)

EMPTY("perf_event", sample_perf_event)

EMPTY("tp_btf/softirq_entry", softirq_entry)
EMPTY("tp_btf/softirq_exit", softirq_exit)
EMPTY("tp_btf/sched_switch", sched_switch)
EMPTY("tp_btf/sched_wakeup", sched_wakeup)

char LICENSE[] SEC("license") = "Dual MIT/GPL";
