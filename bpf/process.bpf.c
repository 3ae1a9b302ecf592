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
#include "account.bpf.h"
#include "compat.bpf.h"

const volatile u32 process_rows_max = 1;
const volatile u64 page_size = 4096;

u32 cpus_online = 1;

static u64 elapsed_ns;   /* between the begin of the last two walks */
static bool exit_has_mm; /* seen at an exit: the address space is still there */
static bool exit_has_no_mm;

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
	count_started(a, row, st ? st->process_row : 0);
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
	u32 row = st ? st->row : SERVICE_OTHER, process = st ? st->process_row : 0;
	struct process_row *service = service_row(row), *own = process_row_at(process);

	if (!a)
		return;
	if (!service)
		goto out;
	fold(task, a, row, process, true);
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
		user_ns = cputime_share(limit, user_ns, user_ns + system_ns);
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

__noinline int show_process(u32 i)
{
	struct process_row *row = process_row_at(i);

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
	percpu_origin_find();
}

static void walk_end(void)
{
	for (u32 i = 0; i < service_rows; i++)
		show_service(i);
	for (u32 i = 1; i < process_rows_max; i++)
		show_process(i);
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

SEC("tp_btf/sched_process_exit")
int BPF_PROG(process_exit, struct task_struct *task)
{
	struct task_struct *leader = task->group_leader;
	struct service_task *st = service_task(leader);
	u32 row = st ? st->row : SERVICE_OTHER, process = st ? st->process_row : 0;
	struct process_row *service = service_row(row), *own = process_row_at(process);
	struct account *a = account_take(task, row);
	u64 peak;

	if (a) {
		fold(task, a, row, process, false);
		account_put(a);
	}
	if (task->signal->live.counter > 0)
		return 0;
	a = bpf_task_storage_get(&accounts, leader, NULL, 0);
	if (a)
		count_ended(a, row, process);
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
	fold(task, a, st ? st->row : a->row, st ? st->process_row : 0, false);
	if (st)
		count_ended(a, st->row, st->process_row);
	return 0;
}

char LICENSE[] SEC("license")
	HELP("Processes: CPU, memory, input and output of the processes of each service") =
		"Dual MIT/GPL";
