/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Processes: what the kernel already counts per task, summed per service, at
 * no cost per event. A walk over all tasks at each reading adds what each
 * thread's counters have grown by since it was last seen; a task that ends
 * between two readings is added when it exits, and what it does after that
 * when it is freed, after its final switch. Each thread remembers what was
 * added of it, so nothing counts twice or is lost, whatever the order of walk,
 * exit and exec.
 *
 * Hooks: iter/task at each reading; tp_btf sched_process_exit (all but the
 * last 30 to 600 us of a thread, and the peak of the memory);
 * sched_process_free (the rest; runs on top of any task, where some kernels
 * run no tracing program); sched_process_exec and task_rename (a process that
 * changes its service).
 * They are hooked after those of the service object and so run after them.
 * Option "exact_peak": tp_btf rss_stat, at every page fault.
 *
 * Limits: RSS that rises and falls between two readings shows as a peak where
 * it was a new maximum of that process (the kernel keeps one high-water mark);
 * with exact_peak always, to within 16 changes of its size.
 */
#include "compat.bpf.h"
#include "service.bpf.h"
#include "task.bpf.h"

const volatile u32 process_rows_max = 1;
const volatile u64 page_size = 4096;

u32 cpus_online = 1;
u64 refused;
u64 read_ns; /* when this walk began, by CLOCK_BOOTTIME */

struct process_row {
	u64 user_ns METRIC("ps_cputime:user scale=1/1000");
	u64 system_ns METRIC("ps_cputime:syst scale=1/1000");
	u64 cpu_ns METRIC("gauge-cpu_percent rate scale=1/10000000 notable=10000000");
	u64 wait_ns METRIC("delay_rate-delay-cpu rate scale=1/1000000000");
	u64 voluntary METRIC("contextswitch-voluntary");
	u64 involuntary METRIC("contextswitch-involuntary");
	u64 minor_faults METRIC("ps_pagefaults:minflt");
	u64 major_faults METRIC("ps_pagefaults:majflt");
	u64 read_chars METRIC("io_octets:rx notable=1000000");
	u64 write_chars METRIC("io_octets:tx notable=1000000");
	u64 read_calls METRIC("io_ops:read");
	u64 write_calls METRIC("io_ops:write");
	u64 read_bytes METRIC("disk_octets:read notable=1000000");
	u64 write_bytes METRIC("disk_octets:write notable=1000000");
	u64 started METRIC("total_events-processes_started");
	u64 ended METRIC("total_events-processes_ended");
	u64 processes METRIC("ps_count:processes");
	u64 threads METRIC("ps_count:threads");
	u64 rss_bytes METRIC("ps_rss");
	u64 rss_peak_bytes METRIC("ps_rss-peak");
	u64 vm_bytes METRIC("ps_vm");
	u64 swap_bytes METRIC("swap");

	/* What the walk gathers; it appears above when the walk is complete. */
	struct {
		u64 user_ns; /* never lowered: the sum of all that was added */
		u64 system_ns;
		u64 processes;
		u64 threads;
		u64 rss;
		u64 vm;
		u64 swap;
		u64 rise;       /* pages: the highest above its size now */
		u64 ended_peak; /* pages: the highest of those that ended */
	} walk;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SERVICE_FIRST);
	__type(key, u32);
	__type(value, struct process_row);
} process_services SEC(".maps") SUBJECT("service");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct process_row);
} process_slots SEC(".maps") SUBJECT("process");

/* Of each thread that was seen: what of it is in the rows already. */
struct account {
	struct counters added;
	u64 seen_ns;
	u64 rss;         /* pages at the last reading */
	u64 hiwater;     /* pages, the kernel's mark then */
	u64 spike;       /* pages, highest since then; with exact_peak */
	u64 maxrss;      /* pages, at exec: of what ran before in this process */
	u64 mm;          /* which address space these are of */
	u32 memory_walk; /* the walk that added the memory */
	u32 ended;       /* counted as ended */
	u32 row;
	u32 started; /* counted as started, in `row` */
	u16 known;
	u16 changes; /* of its memory; with exact_peak */
	u32 busy;
};

/* With the kernel's own 72 bytes just within its slab class of 256. */
_Static_assert(sizeof(struct account) <= 184, "an account of each thread costs twice as much");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct account);
} accounts SEC(".maps");

static u64 since_ns; /* the first walk: what ran before counts from there */
static u32 walks;
static u64 elapsed_ns;   /* between the begin of the last two walks */
static bool exit_has_mm; /* seen at an exit: the address space is still there */
static bool exit_has_no_mm;

static struct process_row *service_row(u32 row)
{
	return bpf_map_lookup_elem(&process_services, &row);
}

static struct process_row *slot_row(u32 slot)
{
	return slot ? bpf_map_lookup_elem(&process_slots, &slot) : NULL;
}

static bool ran_before(const struct task_struct *task)
{
	return !since_ns || task->start_boottime < since_ns;
}

static void charge(struct process_row *row, const struct counters *d, u64 system_ns)
{
	add(&row->walk.user_ns, d->exec - system_ns);
	add(&row->walk.system_ns, system_ns);
	add(&row->wait_ns, d->wait);
	add(&row->voluntary, d->voluntary);
	add(&row->involuntary, d->involuntary);
	add(&row->minor_faults, d->minor_faults);
	add(&row->major_faults, d->major_faults);
	add(&row->read_chars, d->read_chars);
	add(&row->write_chars, d->write_chars);
	add(&row->read_calls, d->read_calls);
	add(&row->write_calls, d->write_calls);
	add(&row->read_bytes, d->read_bytes);
	add(&row->write_bytes, d->write_bytes);
}

/* The account of a thread, made at its first sight and held until it is put
 * back. Walk, exec and exit may meet: NULL for the second, and what it would
 * have added is added next time. */
static struct account *account_take(struct task_struct *task, u32 row)
{
	struct account *a = bpf_task_storage_get(&accounts, task, NULL, 0);

	if (!a)
		a = bpf_task_storage_get(&accounts, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!a) {
		add(&refused, 1);
		return NULL;
	}
	if (__sync_lock_test_and_set(&a->busy, 1))
		return NULL;
	if (a->known)
		return a;
	a->known = 1;
	a->row = row;
	if (ran_before(task)) {
		read_counters(task, &a->added, since_ns == read_ns);
		a->seen_ns = read_ns;
		a->started = 1;
	}
	return a;
}

static void account_put(struct account *a)
{
	__sync_lock_test_and_set(&a->busy, 0);
}

/* No thread runs for longer than time passes; the rest is what it did while the
 * walk was under way. */
static void limit_to_walk(struct task_struct *task, struct account *a, struct counters *grown)
{
	u64 limit = read_ns - (a->seen_ns ? a->seen_ns : task->start_boottime);

	if (grown->exec > limit) {
		a->added.exec -= grown->exec - limit;
		grown->exec = limit;
	}
	a->seen_ns = read_ns;
}

/* Adds what a thread has done since it was last added; nothing for most. */
static void fold(struct task_struct *task, struct account *a, u32 row, u32 slot, bool walking)
{
	struct process_row *service = service_row(row), *own = slot_row(slot);
	struct counters d;
	u64 system_ns;
	bool any;

	if (!service)
		return;
	read_counters(task, &d, walking);
	any = grow(&d, &a->added);
	if (walking)
		limit_to_walk(task, a, &d);
	if (!any)
		return;
	system_ns = system_share(task, &d);
	charge(service, &d, system_ns);
	if (own)
		charge(own, &d, system_ns);
}

static void count_started(struct account *a, u32 row, u32 slot)
{
	struct process_row *service = service_row(row), *own = slot_row(slot);

	if (__sync_lock_test_and_set(&a->started, 1))
		return;
	if (service)
		add(&service->started, 1);
	if (own)
		add(&own->started, 1);
}

/* A process that was counted in one service goes on in another. */
static void change_service(struct account *a, u32 row)
{
	struct process_row *from = service_row(a->row), *to = service_row(row);

	if (a->row == row)
		return;
	a->row = row;
	if (!a->started)
		return;
	if (from)
		add(&from->ended, 1);
	if (to)
		add(&to->started, 1);
}

static void gather(struct process_row *row, u64 rss, u64 vm, u64 swap, u64 peak)
{
	row->walk.rss += rss;
	row->walk.vm += vm;
	row->walk.swap += swap;
	if (peak - rss > row->walk.rise)
		row->walk.rise = peak - rss;
}

/* Memory of the process whose leader has this account. The kernel's high-water
 * mark tells of the interval only if it has risen within it. */
static void walk_memory(struct task_struct *task, struct account *a, struct process_row *service,
			struct process_row *own)
{
	struct mm_struct *mm = task->mm;
	u64 rss, swap, hiwater, peak;
	struct mm_pages pages;

	/* Between vfork and exec the address space is the parent's. */
	if (!mm || task->vfork_done || a->memory_walk == walks)
		return;
	a->memory_walk = walks;
	mm_pages_read(mm, &pages);
	rss = rss_of(&pages);
	swap = pages.kind[MM_SWAPENTS];
	hiwater = mm->hiwater_rss;
	if (a->mm != (u64)mm) {
		bool first_reading = !a->mm && ran_before(task);

		a->hiwater = first_reading ? hiwater : 0;
		a->rss = first_reading ? rss : 0;
		a->mm = (u64)mm;
	}
	peak = rss > a->rss ? rss : a->rss;
	if (hiwater > a->hiwater && hiwater > peak)
		peak = hiwater;
	if (a->spike > peak)
		peak = a->spike;
	a->spike = 0;
	a->hiwater = hiwater;
	a->rss = rss;
	gather(service, rss, mm->total_vm, swap, peak);
	if (own)
		gather(own, rss, mm->total_vm, swap, peak);
}

static void walk_leader(struct task_struct *task, struct account *a, struct service_task *st,
			struct process_row *service, struct process_row *own)
{
	u32 row = st ? st->row : SERVICE_OTHER;

	change_service(a, row);
	count_started(a, row, st ? st->slot : 0);
	walk_memory(task, a, service, own);
	if (task->signal->live.counter == 0)
		return;
	service->walk.processes++;
	if (own)
		own->walk.processes++;
}

/* The row is asked for once the account is held: an exec may just change it. */
static void walk_thread(struct task_struct *task, struct service_task *st)
{
	struct account *a = account_take(task, st ? st->row : SERVICE_OTHER), *leader;
	u32 row = st ? st->row : SERVICE_OTHER, slot = st ? st->slot : 0;
	struct process_row *service = service_row(row), *own = slot_row(slot);

	if (!a)
		return;
	if (!service)
		goto out;
	fold(task, a, row, slot, true);
	if (task->pid == task->tgid) {
		walk_leader(task, a, st, service, own);
	} else if (!task->group_leader->mm) {
		/* The leader has exited first. */
		leader = bpf_task_storage_get(&accounts, task->group_leader, NULL, 0);
		if (leader)
			walk_memory(task, leader, service, own);
	}
	a->row = row;
	if (!task->exit_state) {
		service->walk.threads++;
		if (own)
			own->walk.threads++;
	}
out:
	account_put(a);
}

/* Up to `limit` of what is in the counter `gathered` beyond `shown`. */
static void show_cpu(struct process_row *row)
{
	u64 limit = elapsed_ns * cpus_online;
	u64 user_ns = row->walk.user_ns - row->user_ns;
	u64 system_ns = row->walk.system_ns - row->system_ns;

	if (user_ns + system_ns > limit) {
		user_ns = share(limit, user_ns, user_ns + system_ns);
		system_ns = limit - user_ns;
		if (system_ns > row->walk.system_ns - row->system_ns)
			system_ns = row->walk.system_ns - row->system_ns;
	}
	row->user_ns += user_ns;
	row->system_ns += system_ns;
	row->cpu_ns += user_ns + system_ns;
}

/* The walk is complete: shows what it gathered. CPU time is never shown above
 * what the CPUs can give; tasks that ended before the last reading and were
 * freed after it can bring more than that, which then waits for the next. */
static void show(struct process_row *row)
{
	u64 rise = row->walk.rise;
	u64 ended = __sync_lock_test_and_set(&row->walk.ended_peak, 0);

	show_cpu(row);
	row->processes = row->walk.processes;
	row->threads = row->walk.threads;
	row->rss_bytes = row->walk.rss * page_size;
	row->rss_peak_bytes = (row->walk.rss + (rise > ended ? rise : ended)) * page_size;
	row->vm_bytes = row->walk.vm * page_size;
	row->swap_bytes = row->walk.swap * page_size;
	row->walk.processes = 0;
	row->walk.threads = 0;
	row->walk.rss = 0;
	row->walk.vm = 0;
	row->walk.swap = 0;
	row->walk.rise = 0;
}

__noinline int show_service(u32 i)
{
	struct process_row *row = service_row(i);

	if (row)
		show(row);
	return 0;
}

__noinline int show_slot(u32 i)
{
	struct process_row *row = slot_row(i);

	if (row)
		show(row);
	return 0;
}

static void walk_begin(void)
{
	struct task_struct *self = bpf_get_current_task_btf();
	u64 now = bpf_ktime_get_boot_ns();

	walks++;
	elapsed_ns = read_ns ? now - read_ns : 0;
	read_ns = now;
	if (!since_ns)
		since_ns = now;
	/* The engine has just asked for its own CPU time, which brings the
	 * clock of this CPU's run queue up to date. */
	if (bpf_core_field_exists(self->se.cfs_rq->rq))
		walk_clock = self->se.cfs_rq->rq->clock;
	percpu_offsets_find();
}

static void walk_end(void)
{
	for (u32 i = 0; i < service_rows; i++)
		show_service(i);
	for (u32 i = 1; i < process_rows_max; i++)
		show_slot(i);
}

SEC("iter/task")
int process_walk(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (ctx->meta->seq_num == 0)
		walk_begin();
	if (!task) {
		walk_end();
		return 0;
	}
	/* Reaped: sched_process_free adds it, and its leader may be gone. */
	if (task->exit_state & EXIT_DEAD)
		return 0;
	walk_thread(task, service_task(task->group_leader));
	return 0;
}

static void process_moved(struct task_struct *leader)
{
	struct service_task *st = service_task(leader);
	struct account *a = bpf_task_storage_get(&accounts, leader, NULL, 0);
	u32 from;

	if (!st)
		return;
	from = a && a->known ? a->row : st->previous;
	if (from == st->row)
		return;
	a = account_take(leader, from);
	if (!a)
		return;
	fold(leader, a, a->row, 0, false);
	change_service(a, st->row);
	account_put(a);
}

SEC("tp_btf/task_rename")
int BPF_PROG(process_rename, struct task_struct *task)
{
	if (task->pid == task->tgid && !(task->flags & PF_KTHREAD))
		process_moved(task);
	return 0;
}

/* Where the address space is gone at exit, the process's maximum stands in for
 * it, which exec hands on: what it was then must be known. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_exec, struct task_struct *task)
{
	struct service_task *st = service_task(task);
	struct account *a;

	process_moved(task);
	if (!exit_has_no_mm || !st)
		return 0;
	a = account_take(task, st->row);
	if (!a)
		return 0;
	a->maxrss = task->signal->maxrss;
	account_put(a);
	return 0;
}

/* Runs at every page fault; the sum over all CPUs is worth every 16th. */
SEC("tp_btf/rss_stat")
OPTION("exact_peak")
int BPF_PROG(process_rss, struct mm_struct *mm)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct account *a;
	u64 rss;

	if (task->mm != mm)
		return 0;
	a = bpf_task_storage_get(&accounts, task->group_leader, NULL, 0);
	if (!a || a->mm != (u64)mm || ++a->changes % 16)
		return 0;
	rss = rss_pages(mm);
	if (rss > a->spike)
		a->spike = rss;
	return 0;
}

static u64 peak_at_exit(struct task_struct *task, struct account *a)
{
	u64 hiwater, rss, known = a ? a->hiwater : 0;
	struct mm_struct *mm = task->mm;

	if (mm) {
		exit_has_mm = true;
		rss = rss_pages(mm);
		hiwater = mm->hiwater_rss;
		if (a && a->mm != (u64)mm)
			known = 0;
		if (rss > hiwater)
			hiwater = rss;
	} else {
		exit_has_no_mm = !exit_has_mm;
		hiwater = task->signal->maxrss;
		if (a && a->maxrss > known)
			known = a->maxrss;
	}
	if (hiwater > known)
		return hiwater;
	return a ? a->rss : 0;
}

static void raise_peak(struct process_row *row, u64 peak)
{
	u64 was = row->walk.ended_peak;

	for (int i = 0; i < 8 && peak > was; i++) {
		u64 now = __sync_val_compare_and_swap(&row->walk.ended_peak, was, peak);

		if (now == was)
			break;
		was = now;
	}
}

/* Once for a process, at the exit of its last thread or when it is freed. */
static void count_ended(struct account *a, u32 row, u32 slot)
{
	struct process_row *service = service_row(row);

	count_started(a, row, slot);
	if (!__sync_lock_test_and_set(&a->ended, 1) && service)
		add(&service->ended, 1);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(process_exit, struct task_struct *task)
{
	struct task_struct *leader = task->group_leader;
	struct service_task *st = service_task(leader);
	u32 row = st ? st->row : SERVICE_OTHER, slot = st ? st->slot : 0;
	struct process_row *service = service_row(row), *own = slot_row(slot);
	struct account *a = account_take(task, row);
	u64 peak;

	if (a) {
		fold(task, a, row, slot, false);
		account_put(a);
	}
	if (task->signal->live.counter > 0)
		return 0;
	a = bpf_task_storage_get(&accounts, leader, NULL, 0);
	if (a)
		count_ended(a, row, slot);
	if (task->flags & PF_KTHREAD || task->vfork_done)
		return 0;
	peak = peak_at_exit(task, a);
	if (service)
		raise_peak(service, peak);
	if (own)
		raise_peak(own, peak);
	return 0;
}

/* The leader of a thread may be gone here, so its account knows the row. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(process_free, struct task_struct *task)
{
	struct service_task *st = service_task(task);
	struct account *a = bpf_task_storage_get(&accounts, task, NULL, 0);

	if (!a)
		return 0;
	fold(task, a, st ? st->row : a->row, st ? st->slot : 0, false);
	if (st)
		count_ended(a, st->row, st->slot);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
