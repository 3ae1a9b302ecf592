/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Services: gives every process the row that its events belong to, at fork
 * (inherited), exec, rename and change of cgroup, so that a process that
 * lives for a millisecond is matched too. Not a probe: it counts nothing but
 * the processes of a row, and all probes share its maps.
 *
 * Hooks: tp_btf task_newtask, task_rename, sched_process_exec,
 * sched_process_exit and sched_process_free, cgroup_attach_task (with Cgroup
 * options only); iter/task for processes that ran before and for what the
 * engine decides.
 */
#include "service.bpf.h"

const volatile bool command_names = true; /* a command name takes a free row */
const volatile bool cgroup_rules = false;

struct service_news service_news;
volatile bool scan_all; /* the scan lists every process, not only the new ones */

/* Room is made before load: what the configuration and MaxServices ask for. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SERVICE_FIRST);
	__type(key, u32);
	__type(value, struct service);
} services SEC(".maps") SUBJECT("service");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct service_name);
	__type(value, u32);
} service_names SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, u32);
} service_free SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct cgroup_step);
	__type(value, struct cgroup_node);
} service_cgroups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct process_label);
} process_labels SEC(".maps") SUBJECT("process");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, u32);
} process_free SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u32);
	__type(value, struct order);
} orders SEC(".maps");

static struct service *service_at(u32 row)
{
	return bpf_map_lookup_elem(&services, &row);
}

static void count_processes(u32 row, s64 n)
{
	struct service *s = service_at(row);

	if (s)
		__sync_fetch_and_add(&s->processes, n);
}

/* Takes a free row for a command name; SERVICE_OTHER if there is none. */
static u32 claim(const struct service_name *name)
{
	struct service *s;
	u32 row, *known;

	if (bpf_map_pop_elem(&service_free, &row))
		return SERVICE_OTHER;
	s = service_at(row);
	if (!s)
		return SERVICE_OTHER;
	__builtin_memcpy(s->name, name->text, sizeof(s->name));
	if (bpf_map_update_elem(&service_names, name, &row, BPF_NOEXIST) == 0) {
		/* A full barrier: the engine reads the name behind the flag. */
		__sync_lock_test_and_set(&s->flags, SERVICE_USED);
		return row;
	}
	bpf_map_push_elem(&service_free, &row, 0);
	known = bpf_map_lookup_elem(&service_names, name);
	return known ? *known : SERVICE_OTHER;
}

/* The lowest row that a rule gives one of the directories on the way down, or 0. */
static u32 match_cgroup(struct task_struct *task)
{
	struct cgroup *group = task->cgroups->dfl_cgrp;
	u64 path[CGROUP_DEPTH_MAX] = {};
	int level = group->level;
	u32 parent = 0, row = 0;

	for (int i = 0; i < CGROUP_DEPTH_MAX; i++) {
		int at = level - 1 - i;

		if (at < 0)
			break;
		if (at < CGROUP_DEPTH_MAX)
			path[at] = (u64)BPF_CORE_READ(group, kn, name);
		group = BPF_CORE_READ(group, self.parent, cgroup);
	}
	for (int i = 0; i < CGROUP_DEPTH_MAX && path[i]; i++) {
		struct cgroup_step step = { .parent = parent };
		struct cgroup_node *node;

		bpf_probe_read_kernel_str(step.name, sizeof(step.name), (void *)path[i]);
		node = bpf_map_lookup_elem(&service_cgroups, &step);
		if (!node)
			break;
		if (node->row && (!row || node->row < row))
			row = node->row;
		parent = node->node;
	}
	return row;
}

/* Configured rows come before those of command names, and the first that is
 * configured wins: the lower row. */
static u32 match(struct task_struct *task, const char *comm)
{
	struct service_name name = {};
	u32 *known, row;

	if (task->flags & PF_KTHREAD)
		return SERVICE_KERNEL;
	bpf_probe_read_kernel_str(name.text, sizeof(name.text), comm);
	known = bpf_map_lookup_elem(&service_names, &name);
	row = cgroup_rules ? match_cgroup(task) : 0;
	if (known && (!row || *known < row))
		row = *known;
	if (row || !command_names)
		return row;
	return claim(&name);
}

/* A row of its own for a process of a service that asks for it. */
static void label(struct task_struct *leader, struct service_task *st)
{
	struct service *s = service_at(st->row);
	struct process_label *l;
	u32 slot;

	if (!s || !(s->flags & SERVICE_PER_PROCESS))
		return;
	if (bpf_map_pop_elem(&process_free, &slot)) {
		add(&service_news.refused, 1);
		return;
	}
	l = bpf_map_lookup_elem(&process_labels, &slot);
	if (!l)
		return;
	l->start_ns = leader->start_boottime;
	l->pid = leader->tgid;
	l->row = st->row;
	__sync_lock_test_and_set(&l->state, PROCESS_ALIVE);
	st->slot = slot;
}

static void unlabel(struct service_task *st)
{
	u32 slot = st->slot;
	struct process_label *l = slot ? bpf_map_lookup_elem(&process_labels, &slot) : NULL;

	if (l)
		__sync_lock_test_and_set(&l->state, PROCESS_ENDED);
}

static void enter(struct task_struct *leader, struct service_task *st, u32 row)
{
	st->row = row;
	count_processes(row, 1);
	label(leader, st);
}

/* Told after the row is set: who asks in between asks again. */
static void count_move(void)
{
	u64 *moves = service_moves_at();

	if (moves)
		add(moves, 1);
}

static void move(struct task_struct *leader, struct service_task *st, u32 row)
{
	if (st->row == row)
		return;
	st->previous = st->row;
	count_processes(st->row, -1);
	unlabel(st);
	st->slot = 0;
	enter(leader, st, row);
	count_move();
}

/* The storage of a leader, made and filled if this is the first that is seen
 * of it; NULL: no memory. */
static struct service_task *know(struct task_struct *leader, const u32 *inherited)
{
	struct service_task *st;
	u32 row;

	st = bpf_task_storage_get(&service_tasks, leader, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!st) {
		add(&service_news.refused, 1);
		return NULL;
	}
	if (__sync_lock_test_and_set(&st->known, 1))
		return st;
	row = inherited ? *inherited : match(leader, leader->comm);
	st->previous = row;
	enter(leader, st, row);
	if (!inherited) {
		count_move(); /* until now its events belonged to none */
		st->flags |= TASK_FRESH;
		add(&service_news.fresh, 1);
	}
	return st;
}

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
	st = know(child, &row);
	if (!st)
		return 0;
	if (from)
		st->flags |= from->flags & TASK_ASSIGNED;
	if (cgroup_rules && child->cgroups != parent->cgroups)
		move(child, st, match(child, child->comm));
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(service_rename, struct task_struct *task, const char *comm)
{
	struct service_task *st;

	if (task->pid != task->tgid || task->flags & PF_KTHREAD)
		return 0;
	st = service_task(task);
	if (st && !(st->flags & TASK_ASSIGNED))
		move(task, st, match(task, comm));
	return 0;
}

/* A thread that execs has become the leader by now, without the storage of the
 * old one: it is met for the first time. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(service_exec, struct task_struct *task)
{
	struct service_task *st = know(task, NULL);

	if (!st)
		return 0;
	move(task, st, match(task, task->comm));
	st->flags = TASK_FRESH;
	add(&service_news.fresh, 1);
	return 0;
}

SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(service_cgroup, struct cgroup *group, const char *path, struct task_struct *task)
{
	struct task_struct *leader = task->group_leader;
	struct service_task *st = service_task(leader);

	if (st && !(st->flags & TASK_ASSIGNED))
		move(leader, st, match(leader, leader->comm));
	return 0;
}

static void leave(struct service_task *st)
{
	if (!st || __sync_lock_test_and_set(&st->ended, 1))
		return;
	count_processes(st->row, -1);
	unlabel(st);
}

/* The last thread takes the process with it, whether it is the leader or not. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(service_exit, struct task_struct *task)
{
	if (task->signal->live.counter == 0)
		leave(service_task(task->group_leader));
	return 0;
}

/* The leader that another thread's exec has replaced. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(service_replaced, struct task_struct *task)
{
	leave(service_task(task));
	return 0;
}

/* Meets the processes that ran before, carries out the engine's orders, and
 * tells the engine which command lines are new. */
SEC("iter/task")
int service_scan(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct fresh_process fresh = {};
	struct service_task *st;
	struct order *order;
	u32 pid;

	if (!task || task->pid != task->tgid || task->exit_state & EXIT_DEAD)
		return 0;
	st = know(task, NULL);
	if (!st)
		return 0;
	pid = task->tgid;
	order = bpf_map_lookup_elem(&orders, &pid);
	if (order && order->start_ns == task->start_boottime) {
		move(task, st, order->row);
		st->flags |= TASK_ASSIGNED;
	}
	if (!(st->flags & TASK_FRESH) && !scan_all)
		return 0;
	fresh.start_ns = task->start_boottime;
	fresh.pid = pid;
	fresh.parent = BPF_CORE_READ(task, real_parent, tgid);
	fresh.row = st->row;
	if (bpf_seq_write(ctx->meta->seq, &fresh, sizeof(fresh)) == 0)
		st->flags &= ~TASK_FRESH;
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
