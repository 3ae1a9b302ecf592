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
const volatile bool command_lines = false; /* the engine looks at them */

struct service_counters service_counters;
volatile u32 scan_mode;     /* enum scan_mode */
volatile bool scan_waiting; /* there is room: those that wait for a row are matched again */

#define ROW_NONE ~0U /* there should be one, but none is free */

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
	__type(value, struct assignment);
} assignments SEC(".maps");

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

/* Takes a free row for a command name, or ROW_NONE. */
static u32 take_row(const struct service_name *name)
{
	struct service *s;
	u32 row, *known;

	if (bpf_map_pop_elem(&service_free, &row))
		return ROW_NONE;
	s = service_at(row);
	if (!s)
		return ROW_NONE;
	__builtin_memcpy(s->name, name->text, sizeof(s->name));
	if (bpf_map_update_elem(&service_names, name, &row, BPF_NOEXIST) == 0) {
		/* A full barrier: the engine reads the name behind the flag. */
		__sync_lock_test_and_set(&s->flags, SERVICE_USED);
		return row;
	}
	bpf_map_push_elem(&service_free, &row, 0);
	known = bpf_map_lookup_elem(&service_names, name);
	return known ? *known : ROW_NONE;
}

/* The directory of a cgroup's path that is so deep, 0 is the root. 6.1 keeps them in an
 * array: 7f203bc89eb6 ("cgroup: Replace cgroup->ancestor_ids[] with ->ancestors[]"). Before, those
 * that are deeper than twice what a rule can be are out of reach. */
static struct cgroup *ancestor(struct cgroup *group, int depth)
{
	struct cgroup *found = NULL;

	if (bpf_core_field_exists(group->ancestors)) {
		bpf_probe_read_kernel(&found, sizeof(found),
				      (void *)group +
					      bpf_core_field_offset(struct cgroup, ancestors) +
					      depth * sizeof(found));
		return found;
	}
	for (int i = 0; i < 2 * CGROUP_DEPTH_MAX && group; i++) {
		if (BPF_CORE_READ(group, level) == depth)
			return group;
		group = BPF_CORE_READ(group, self.parent, cgroup);
	}
	return NULL;
}

/* The lowest row that a rule gives one of the directories on the way down, or 0. */
static u32 match_cgroup(struct task_struct *task)
{
	struct cgroup *group = task->cgroups->dfl_cgrp;
	int level = group->level;
	u32 parent = 0, row = 0;

	for (int depth = 1; depth <= CGROUP_DEPTH_MAX && depth <= level; depth++) {
		struct cgroup *at = ancestor(group, depth);
		struct cgroup_step step = { .parent = parent };
		struct cgroup_node *node;

		bpf_probe_read_kernel_str(step.name, sizeof(step.name),
					  BPF_CORE_READ(at, kn, name));
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
	return take_row(&name);
}

static void set_flags(struct service_task *st, u32 flags)
{
	__sync_fetch_and_or(&st->flags, flags);
}

/* The flags as they were. */
static u32 clear_flags(struct service_task *st, u32 flags)
{
	return __sync_fetch_and_and(&st->flags, ~flags);
}

/* It is matched again when there is room. */
static void wait_for_room(struct service_task *st)
{
	if (__sync_fetch_and_or(&st->flags, TASK_WAITING) & TASK_WAITING)
		return;
	add(&service_counters.no_room, 1);
	__sync_fetch_and_add(&service_counters.waiting, 1);
}

static void wait_no_more(struct service_task *st)
{
	if (clear_flags(st, TASK_WAITING) & TASK_WAITING)
		__sync_fetch_and_add(&service_counters.waiting, -1);
}

/* A row of its own for a process of a service that asks for it; false: none is free. */
static bool label(struct task_struct *leader, struct service_task *st)
{
	struct service *s = service_at(st->row);
	struct process_label *l;
	u32 process;

	if (!s || !(s->flags & SERVICE_PER_PROCESS))
		return true;
	if (bpf_map_pop_elem(&process_free, &process))
		return false;
	l = bpf_map_lookup_elem(&process_labels, &process);
	if (!l)
		return false;
	l->start_ns = leader->start_boottime;
	l->pid = leader->tgid;
	l->row = st->row;
	__sync_lock_test_and_set(&l->state, PROCESS_ALIVE);
	st->process_row = process;
	return true;
}

static void unlabel(struct service_task *st)
{
	u32 process = st->process_row;
	struct process_label *l = process ? bpf_map_lookup_elem(&process_labels, &process) : NULL;

	if (l)
		__sync_lock_test_and_set(&l->state, PROCESS_ENDED);
}

static void enter(struct task_struct *leader, struct service_task *st, u32 row)
{
	st->row = row == ROW_NONE ? SERVICE_OTHER : row;
	count_processes(st->row, 1);
	if (row == ROW_NONE || !label(leader, st))
		wait_for_room(st);
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
	if (row == ROW_NONE && st->row == SERVICE_OTHER) {
		wait_for_room(st);
		return;
	}
	if (st->row == row)
		return;
	wait_no_more(st);
	st->previous = st->row;
	count_processes(st->row, -1);
	unlabel(st);
	st->process_row = 0;
	enter(leader, st, row);
	count_move();
}

/* The engine is to look at the command line. */
static void refresh(struct service_task *st)
{
	if (!command_lines)
		return;
	set_flags(st, TASK_UNCLASSIFIED);
	add(&service_counters.unclassified, 1);
}

/* The storage of a leader, made and filled if this is the first that is seen
 * of it; NULL: no memory. */
static struct service_task *know(struct task_struct *leader, const u32 *inherited)
{
	struct service_task *st;
	u32 row;

	st = bpf_task_storage_get(&service_tasks, leader, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!st) {
		add(&service_counters.refused, 1);
		return NULL;
	}
	if (__sync_lock_test_and_set(&st->known, 1))
		return st;
	row = inherited ? *inherited : match(leader, leader->comm);
	st->previous = row == ROW_NONE ? SERVICE_OTHER : row;
	enter(leader, st, row);
	if (!inherited) {
		count_move(); /* until now its events belonged to none */
		refresh(st);
	}
	return st;
}

/* Of a parent that the engine has not looked at, or whose assignment is on its way, it
 * looks at the child, too. */
static void inherit(struct service_task *st, u32 flags)
{
	set_flags(st, flags & TASK_ASSIGNED);
	if (flags & TASK_WAITING)
		wait_for_room(st);
	if (flags & (TASK_UNCLASSIFIED | TASK_LISTED))
		refresh(st);
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
		inherit(st, from->flags);
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
	if (!st || st->flags & TASK_ASSIGNED)
		return 0;
	move(task, st, match(task, comm));
	/* Who gives itself another name mostly rewrites its command line, too. */
	refresh(st);
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
	clear_flags(st, TASK_ASSIGNED | TASK_LISTED);
	refresh(st);
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
	wait_no_more(st);
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

/* A row for one that waits for it, if there is one now. */
static void match_waiting(struct task_struct *task, struct service_task *st)
{
	u32 row;

	if (st->flags & TASK_ASSIGNED)
		row = st->row;
	else
		row = match(task, task->comm);
	if (row == ROW_NONE)
		return;
	if (row != st->row)
		move(task, st, row);
	else if (st->process_row || label(task, st))
		wait_no_more(st);
}

/* What has executed or renamed itself since it was listed is listed again. What has ended, and waits
 * to be reaped, is of no row any more. */
static void carry_out(struct task_struct *task, struct service_task *st,
		      const struct assignment *assignment)
{
	if (assignment->start_ns != task->start_boottime || st->flags & TASK_UNCLASSIFIED ||
	    st->ended)
		return;
	if (assignment->row == ASSIGNMENT_LOOK_AGAIN) {
		refresh(st);
		return;
	}
	move(task, st, assignment->row);
	set_flags(st, TASK_ASSIGNED);
	clear_flags(st, TASK_LISTED);
}

static bool is_wanted(const struct service_task *st)
{
	switch (scan_mode) {
	case SCAN_UNCLASSIFIED:
		return st->flags & TASK_UNCLASSIFIED;
	case SCAN_AGAIN:
		return st->flags & (TASK_UNCLASSIFIED | TASK_LISTED);
	}
	return true;
}

/* The flags change first: what the process does from then on makes it unclassified again. */
static u32 list_flags(struct task_struct *task, struct service_task *st)
{
	u32 flags = st->flags & TASK_ASSIGNED ? LISTED_ASSIGNED : 0;

	if (task->self_exec_id == task->parent_exec_id)
		flags |= LISTED_FORKED;
	if (!(st->flags & (TASK_UNCLASSIFIED | TASK_LISTED)))
		return flags;
	set_flags(st, TASK_LISTED);
	clear_flags(st, TASK_UNCLASSIFIED);
	return flags | LISTED_UNCLASSIFIED;
}

/* The engine's word on the parent, which its own events need not follow yet. */
static u32 parent_row(struct task_struct *parent)
{
	struct service_task *st = parent ? service_task(parent) : NULL;

	return st && st->flags & TASK_ASSIGNED ? st->row : 0;
}

static void list(struct seq_file *seq, struct task_struct *task, struct service_task *st)
{
	struct task_struct *parent = task->real_parent->group_leader;
	struct listed_process listed = {};

	listed.start_ns = task->start_boottime;
	listed.pid = task->tgid;
	listed.parent = parent->tgid;
	listed.flags = list_flags(task, st);
	listed.row = st->row;
	listed.parent_row = parent_row(parent);
	listed.uid = task->cred->euid.val;
	if (bpf_seq_write(seq, &listed, sizeof(listed)) != 0 && listed.flags & LISTED_UNCLASSIFIED)
		set_flags(st, TASK_UNCLASSIFIED);
}

/* Meets the processes that ran before, carries out the engine's assignments, and
 * tells the engine which command lines are new. */
SEC("iter/task")
int service_scan(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct service_task *st;
	struct assignment *assignment;
	u32 pid;

	if (!task || task->pid != task->tgid || task->exit_state & EXIT_DEAD)
		return 0;
	st = know(task, NULL);
	if (!st)
		return 0;
	pid = task->tgid;
	assignment = bpf_map_lookup_elem(&assignments, &pid);
	if (assignment)
		carry_out(task, st, assignment);
	if (scan_waiting && st->flags & TASK_WAITING)
		match_waiting(task, st);
	if (scan_mode == SCAN_NONE)
		return 0;
	if (is_wanted(st))
		list(ctx->meta->seq, task, st);
	else
		clear_flags(st, TASK_LISTED);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
