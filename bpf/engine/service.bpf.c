/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The service object: gives every process the row that its events belong to, at fork (inherited),
 * exec, rename and change of cgroup, so that a process that lives for a millisecond is matched,
 * too. It is not a probe: it counts only the processes of a row, and all probes share its maps.
 *
 * Hooks: tp_btf task_newtask, task_rename, sched_process_exec, sched_process_exit and
 * sched_process_free, cgroup_attach_task and cgroup_rmdir (where cgroups matter); iter/task for
 * processes older than the plugin, for assignments of the engine, and for the walk that all probes
 * share.
 */
#define GROUP_LOOP __attribute__((noinline))
#include "cpu_idle.bpf.h"
#include "scan.bpf.h"
#include "services/service_cpu.bpf.h"
#include "services/service_request.bpf.h"
#include "services/service_response.bpf.h"
#include "requests/serving_thread.bpf.h"
#include "visit.bpf.h"

SEC("tp_btf/task_newtask")
int BPF_PROG(service_fork, struct task_struct *child)
{
	struct task_struct *parent = bpf_get_current_task_btf();
	struct service_task *from, *st;
	u32 row;

	if (child->pid != child->tgid)
		return 0;
	from = service_task(parent->group_leader);
	row = from ? from->row : SERVICE_OTHER;
	st = discover_process(child, &row);
	if (!st)
		return 0;
	if (from)
		inherit_flags(child, st, from->flags);
	if ((cgroup_rules || group_keys) && child->cgroups != parent->cgroups)
		move_process(child, st, match_row(child, child->comm));
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(service_rename, struct task_struct *task, const char *comm)
{
	struct service_task *st;

	if (task->pid != task->tgid || task->flags & PF_KTHREAD)
		return 0;
	st = service_task(task);
	if (!st || st->flags & TASK_ASSIGNED)
		return 0;
	move_asleep(task, st, match_row(task, comm));
	/* A process that renames itself usually rewrites its command line, too. */
	mark_unclassified(st);
	return 0;
}

/* A thread that execs is the leader by now, without the storage of the old leader, so it is
 * discovered here. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(service_exec, struct task_struct *task)
{
	struct service_task *st = discover_process(task, NULL);

	if (!st)
		return 0;
	move_process(task, st, match_row(task, task->comm));
	clear_flags(st, TASK_ASSIGNED | TASK_LISTED);
	mark_unclassified(st);
	return 0;
}

SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(service_cgroup, struct cgroup *group, const char *path, struct task_struct *task)
{
	struct task_struct *leader = task->group_leader;
	struct service_task *st = service_task(leader);

	if (st && !(st->flags & TASK_ASSIGNED) &&
	    group_counts(BPF_CORE_READ(leader, cgroups), group))
		move_asleep(leader, st, match_row(leader, leader->comm));
	return 0;
}

SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(service_cgroup_removed, struct cgroup *group)
{
	group_forget(group);
	return 0;
}

/* The process ends with its last thread, whether that is the leader or not. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(service_exit, struct task_struct *task)
{
	if (task->signal->live.counter == 0)
		exit_service(service_task(task->group_leader));
	return 0;
}

/* Frees the old leader after another thread's exec has replaced it: the only process that is not
 * its own leader. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(service_replaced, struct task_struct *task)
{
	if (task != task->group_leader)
		exit_service(service_task(task));
	return 0;
}

/* Discovers processes older than the plugin, carries out assignments, and lists the processes whose
 * command lines are new. */
SEC("iter/task")
int service_scan(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct service_task *st;
	struct assignment *assignment;
	u32 pid;

	if (!task || task->pid != task->tgid || task->exit_state & EXIT_DEAD)
		return 0;
	st = discover_process(task, NULL);
	if (!st)
		return 0;
	/* Its exit may have been before the discovery. */
	if (task->signal->live.counter == 0)
		exit_service(st);
	pid = task->tgid;
	assignment = bpf_map_lookup_elem(&assignments, &pid);
	if (assignment)
		carry_out_assignment(task, st, assignment);
	if (scan_mode == SCAN_NONE)
		return 0;
	if (scan_mode == SCAN_MATCH)
		match_again(task, st);
	else if (scan_mode == SCAN_UNASSIGNED)
		list_unassigned(ctx->meta->seq, task, st);
	else if (scan_lists(st))
		list_process(ctx->meta->seq, task, st);
	else
		clear_flags(st, TASK_LISTED);
	return 0;
}

/* The walk for all probes, see walk.bpf.h. Every visitor gets the first task and the final NULL. */
SEC("iter/task")
int service_walk(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	bool first = ctx->meta->seq_num == 0;
	struct walk_state *w = walk_state();

	if (!w)
		return 0;
	if (first)
		begin_walk(w);
	if (task && !is_visited(task) && !first)
		return 0;
	w->next = 0;
	return walk_on(ctx);
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
