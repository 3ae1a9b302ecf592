/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * OOM kills: how often the kernel kills a process of a service for lack of memory, with a
 * notification for each that says which process it was.
 *
 * Hooks, hook set 1: tp_btf mark_victim, which has the victim. Hook set 2, for kernels whose
 * mark_victim has only the pid (before 6.9, unless 72ba14deb40a, "mm: Update mark_victim
 * tracepoints fields", is backported): the same as raw_tp, and tp_btf signal_generate, because the
 * kernel sends the victim its SIGKILL just before.
 *
 * No hook says which limit it was. A memory cgroup kills when it cannot charge another page, so it
 * or a cgroup above it is at its limit then; if none is, the machine is out of memory.
 *
 * Limits: hook set 1 also counts a process that was about to exit by itself and gets the last
 * reserves to do so. Processes that share the victim's memory are killed with it and do not count.
 * In hook set 2 memory and limit are those of a moment earlier.
 */
#include "event.bpf.h"
#include "kernel/cgroup.bpf.h"
#include "memory.bpf.h"
#include "services/service.bpf.h"

#define SIGKILL 9
#define LEVELS_MAX 16
#define SLACK_PAGES 64 /* pages that CPUs may have uncharged since */

const volatile u64 page_size = 4096;

enum oom_limit {
	MACHINE_OUT_OF_MEMORY,
	LIMIT_OF_ITS_CGROUP,
};

struct oom_row {
	u64 kills METRIC("total_events-oom_kills") UNIT("kills")
		HELP("OOM kills: processes ended because memory ran out");
};

MMAP_ARRAY(oom_services, struct oom_row, SERVICE_FIRST) SUBJECT("service");

struct oom_kill {
	char comm[TASK_COMM_LEN];
	u64 rss_bytes;
	u32 pid;
	u32 service LABEL("service");
	enum oom_limit limit;
};

RINGBUF(oom_kills, struct oom_kill, 64 * 1024)
EVENT("failure total_events-oom_kills OOM kill: {comm} (pid {pid}) of {service}, "
      "{rss_bytes:bytes} resident; {limit}")
HELP("OOM kill: who was killed, and which limit was reached");

/* --- kernel --- */

struct css_set___oom {
	struct cgroup_subsys_state *subsys[1];
} __attribute__((preserve_access_index));

enum cgroup_subsys_id___oom { memory_cgrp_id___oom = 1 };

/* --- which limit --- */

static bool at_limit(struct page_counter *counter)
{
	for (int i = 0; i < LEVELS_MAX && counter; i++) {
		s64 usage = BPF_CORE_READ(counter, usage.counter);

		if (usage + SLACK_PAGES > (s64)BPF_CORE_READ(counter, max))
			return true;
		counter = BPF_CORE_READ(counter, parent);
	}
	return false;
}

static struct mem_cgroup *memory_cgroup(struct task_struct *task)
{
	struct css_set___oom *set = (void *)task->cgroups;
	struct mem_cgroup *group = NULL;
	u64 id;

	if (!bpf_core_enum_value_exists(enum cgroup_subsys_id___oom, memory_cgrp_id___oom))
		return NULL;
	id = bpf_core_enum_value(enum cgroup_subsys_id___oom, memory_cgrp_id___oom);
	bpf_probe_read_kernel(&group, sizeof(group),
			      (void *)set + bpf_core_field_offset(struct css_set___oom, subsys) +
				      id * sizeof(group));
	return group;
}

/* css is the first member of struct mem_cgroup. */
static enum oom_limit which_limit(struct task_struct *task)
{
	struct mem_cgroup *group = memory_cgroup(task);

	if (!group)
		return MACHINE_OUT_OF_MEMORY;
	if (at_limit((void *)group + bpf_core_field_offset(struct mem_cgroup, memory)))
		return LIMIT_OF_ITS_CGROUP;
	if (bpf_core_field_exists(struct mem_cgroup, memsw) &&
	    at_limit((void *)group + bpf_core_field_offset(struct mem_cgroup, memsw)))
		return LIMIT_OF_ITS_CGROUP;
	return MACHINE_OUT_OF_MEMORY;
}

/* --- a kill --- */

static void count_kill(u32 service)
{
	struct oom_row *row = bpf_map_lookup_elem(&oom_services, &service);

	if (row)
		add(&row->kills, 1);
}

static u64 memory_of(struct task_struct *task)
{
	if (!task->mm)
		return 0;
	percpu_origin_find();
	return rss_pages(task->mm) * page_size;
}

static void describe_kill(struct task_struct *task, struct oom_kill *kill)
{
	bpf_probe_read_kernel_str(kill->comm, sizeof(kill->comm), task->comm);
	kill->rss_bytes = memory_of(task);
	kill->pid = task->tgid;
	kill->service = service_of(task);
	kill->limit = which_limit(task);
}

SEC("tp_btf/mark_victim")
HOOK_SET(1)
int BPF_PROG(oom_victim, struct task_struct *task)
{
	struct oom_kill *kill;

	count_kill(service_of(task));
	kill = event_begin(&oom_kills, sizeof(*kill));
	if (!kill)
		return 0;
	describe_kill(task, kill);
	event_send(kill);
	return 0;
}

/* --- hook set 2: mark_victim has only the victim's pid --- */

struct oom_victim {
	struct oom_kill kill;
	u32 thread; /* of the victim, as mark_victim reports it */
};

/* By the sending thread: its last SIGKILL. */
LRU_HASH(oom_victims, u32, struct oom_victim, 256) HOOK_SET(2);

SEC("tp_btf/signal_generate")
HOOK_SET(2)
int BPF_PROG(oom_signal, int signal, void *info, struct task_struct *task)
{
	u32 sender = (u32)bpf_get_current_pid_tgid();
	struct oom_victim victim = {};

	if (signal != SIGKILL)
		return 0;
	describe_kill(task, &victim.kill);
	victim.thread = task->pid;
	bpf_map_update_elem(&oom_victims, &sender, &victim, 0);
	return 0;
}

SEC("raw_tp/mark_victim")
HOOK_SET(2)
int oom_victim_pid(struct bpf_raw_tracepoint_args *event)
{
	u32 sender = (u32)bpf_get_current_pid_tgid();
	struct oom_victim *victim = bpf_map_lookup_elem(&oom_victims, &sender);
	struct oom_kill *kill;

	if (!victim || victim->thread != (u32)event->args[0])
		return 0;
	count_kill(victim->kill.service);
	kill = event_begin(&oom_kills, sizeof(*kill));
	if (kill) {
		*kill = victim->kill;
		event_send(kill);
	}
	bpf_map_delete_elem(&oom_victims, &sender);
	return 0;
}

char LICENSE[] SEC("license")
	HELP("OOM kills: processes that the kernel ends because there is no more memory") =
		"Dual MIT/GPL";
