/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Processes: what the kernel already counts for each task, summed for each service, at no cost per
 * event.
 *
 * The walk over tasks adds the growth of each thread's counters since the walk before. What a task
 * that ends between two walks has added is counted when it exits, and what it does after that when
 * it is freed, after its final switch. The account of each thread stores what was already added,
 * so nothing counts twice or is lost, whatever the order of walk, exit and exec. Its memory and
 * the thread itself stay in the sums until it ends or is seen with more or less. A thread that
 * exits before a walk has met it has no account, see struct departure.
 *
 * Hooks: the walk; tp_btf sched_process_exit (all but the last 30 to 600 us of a thread, and the
 * memory peak); sched_process_free (the remainder; runs on top of any task, where some kernels run
 * no tracing program); sched_process_exec and task_rename (a process that changes its service).
 * They are hooked after those of the service object and so run after them. Option "exact_peak":
 * tp_btf rss_stat, at every page fault.
 *
 * Limits: changes by others to the memory of a sleeping process, such as reclaim, show when the
 * walk visits it. RSS that rises and falls between two readings shows as a peak only if it was a
 * new maximum of that process, because the kernel has one high-water mark; with exact_peak always,
 * to within 16 changes of its size.
 */
#include "services/usage.bpf.h"
#include "memory.bpf.h"

const volatile u32 process_rows_max = 1;
const volatile u64 page_size = 4096;

u32 cpus_online = 1;
u64 readings;

static u64 shown_ns;   /* start of the last completed walk */
static u64 elapsed_ns; /* from shown_ns to the start of this walk */
static u64 readings_seen;
static bool was_read;    /* since the last walk */
static bool exit_has_mm; /* an exit was seen with the address space still there */
static bool exit_has_no_mm;

/* Notes how far above its present size a process was since the last walk. */
static void raise_size(struct process_probe_row *row, u64 pages)
{
	if (row && pages > row->walk.rise)
		row->walk.rise = pages;
}

/* The kernel's high-water mark is of this interval only if it has risen within it. */
static u64 peak_since(struct account *a, u64 rss, u64 hiwater)
{
	u64 peak = rss > a->rss ? rss : a->rss;

	if (hiwater > a->hiwater && hiwater > peak)
		peak = hiwater;
	if (a->spike > peak)
		peak = a->spike;
	a->spike = 0;
	a->hiwater = hiwater;
	return peak;
}

/* Counts the memory of the process whose leader has this account. task: any thread that has its
 * address space. */
static void walk_memory(struct task_struct *task, struct mm_struct *mm, struct account *a, u32 pair)
{
	u64 rss, hiwater, peak, size;
	struct mm_pages pages;

	if (!mm || a->memory_walk == walk_number)
		return;
	a->memory_walk = walk_number;
	mm_pages_read(mm, &pages);
	rss = rss_of(&pages);
	hiwater = mm->hiwater_rss;
	size = mm->total_vm;
	if (a->mm != (u64)mm) {
		bool first_reading =
			!a->mm && ran_before(BPF_CORE_READ(task, group_leader, start_boottime));

		a->hiwater = first_reading ? hiwater : 0;
		account_memory(a, pair, first_reading ? rss : 0, 0, 0);
		a->mm = (u64)mm;
	}
	peak = peak_since(a, rss, hiwater);
	account_memory(a, pair, rss, size, pages.kind[MM_SWAPENTS]);
	raise_size(row_pair_service(pair), peak - rss);
	raise_size(row_pair_process(pair), peak - rss);
}

/* Between vfork and exec the address space is the parent's. */
static struct mm_struct *own_memory(const struct task_struct *task)
{
	return task->vfork_done ? NULL : task->mm;
}

/* Counts the process of a thread that has run. a: the account of its leader. */
static void walk_process(struct task_struct *task, struct account *a, struct service_task *st)
{
	bool lives = task->signal->live.counter > 0;
	struct mm_struct *mm = own_memory(task);
	u32 row = st ? st->row : SERVICE_OTHER, process = st ? st->process_row : 0;
	u32 pair = row_pair_of(row, process);

	change_service(a, row);
	count_started(a, row, process);
	if (lives && account_process(a, pair)) {
		walk_memory(task, mm, a, pair);
		account_check(a, pair);
	}
}

static void walk_leader(struct task_struct *task, struct service_task *st)
{
	struct task_struct *leader = task->group_leader;
	struct account *a;

	/* An exec replaces a leader that has ended by another thread, with its own account. */
	if (task_group_execs(task))
		return;
	a = account_claim_walking(leader, st ? st->row : SERVICE_OTHER);
	if (!a)
		return;
	walk_process(task, a, st);
	account_put(a);
}

/* st->row is read after the account is claimed: an exec may be changing it. */
static void walk_thread(struct task_struct *task, struct service_task *st)
{
	struct account *a = account_claim_walking(task, st ? st->row : SERVICE_OTHER);
	u32 row = st ? st->row : SERVICE_OTHER, process = st ? st->process_row : 0;

	if (!a)
		return;
	fold_walking(task, a, row, process);
	if (task->pid == task->tgid)
		walk_process(task, a, st);
	else
		a->row = row;
	if (!(task->flags & PF_EXITING))
		account_thread(a, row_pair_of(row, process));
	account_put(a);
	if (task->pid != task->tgid)
		walk_leader(task, st);
}

/* Moves CPU time from the gathered counters to those shown, at most what the CPUs can have given
 * since the last walk. */
static void show_cpu(struct process_probe_row *row)
{
	u64 limit = elapsed_ns * cpus_online;
	u64 user_ns = row->walk.user_ns - row->user_ns;
	u64 system_ns = row->walk.system_ns - row->system_ns;

	if (user_ns + system_ns > limit) {
		user_ns = cputime_fraction(limit, user_ns, user_ns + system_ns);
		system_ns = limit - user_ns;
		if (system_ns > row->walk.system_ns - row->system_ns)
			system_ns = row->walk.system_ns - row->system_ns;
	}
	row->user_ns += user_ns;
	row->system_ns += system_ns;
	row->cpu_ns += user_ns + system_ns;
}

/* Pages: the highest size above the present one, or of processes that have ended, since the last
 * reading. */
static u64 peak_above(struct process_probe_row *row)
{
	u64 peak = __sync_lock_test_and_set(&row->walk.ended_peak, 0);

	if (row->walk.rise > peak)
		peak = row->walk.rise;
	if (!was_read && row->walk.peak > peak)
		peak = row->walk.peak;
	row->walk.rise = 0;
	row->walk.peak = peak;
	return peak;
}

/* A sum may be negative while another CPU subtracts from it. */
static u64 at_least_0(s64 n)
{
	return n > 0 ? n : 0;
}

/* Publishes what a complete walk has gathered. CPU time is never shown above what the CPUs can
 * give. Tasks that ended before the last reading and were freed after it can bring more; the excess
 * is shown at the next. */
static void show_gathered(struct process_probe_row *row)
{
	u64 rise = peak_above(row);

	show_cpu(row);
	row->processes = at_least_0(row->walk.processes);
	row->threads = at_least_0(row->walk.threads);
	row->rss_bytes = at_least_0(row->walk.rss) * page_size;
	row->rss_peak_bytes = row->rss_bytes + rise * page_size;
	row->vm_bytes = at_least_0(row->walk.vm) * page_size;
	row->swap_bytes = at_least_0(row->walk.swap) * page_size;
}

__noinline int show_service(u32 i)
{
	struct process_probe_row *row = service_row(i);

	if (row)
		show_gathered(row);
	return 0;
}

__noinline int show_process(u32 i)
{
	struct process_probe_row *row = process_row_at(i);

	if (row)
		show_gathered(row);
	return 0;
}

static void process_walk_begin(void)
{
	struct task_struct *self = bpf_get_current_task_btf();
	u64 now = bpf_ktime_get_boot_ns();

	walk_number++;
	was_read = readings != readings_seen;
	readings_seen = readings;
	elapsed_ns = shown_ns ? now - shown_ns : 0;
	read_ns = now;
	if (!since_ns)
		since_ns = now;
	/* The engine has just read its own CPU time, which brings the clock of this CPU's run queue
	 * up to date. */
	if (task_has_rq(self))
		walk_clock = task_rq(self)->clock;
	percpu_origin_find();
}

static void process_walk_end(void)
{
	shown_ns = read_ns;
	for (u32 i = 0; i < service_rows; i++)
		show_service(i);
	for (u32 i = 1; i < process_rows_max; i++)
		show_process(i);
}

SEC("iter/task")
WALK int process_walk(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (ctx->meta->seq_num == 0)
		process_walk_begin();
	/* A reaped task is counted by sched_process_free, and its leader may have been freed. */
	if (!task)
		process_walk_end();
	else if (!(task->exit_state & EXIT_DEAD))
		walk_thread(task, service_task(task->group_leader));
	return walk_on(ctx);
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
	a = account_claim(leader, from);
	if (!a)
		return;
	fold(leader, &a->added, a->row, 0);
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

/* Kernels that have released the address space before this exit hook only leave the process's
 * maximum (maxrss), which exec passes on: record what it was. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_exec, struct task_struct *task)
{
	struct service_task *st = service_task(task);
	struct account *a;

	process_moved(task);
	if (!exit_has_no_mm || !st)
		return 0;
	a = account_claim(task, st->row);
	if (!a)
		return 0;
	a->maxrss = task->signal->maxrss;
	account_put(a);
	return 0;
}

/* Runs at every page fault. The sum over all CPUs is expensive: done at every 16th. */
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

static void raise_peak(struct process_probe_row *row, u64 peak)
{
	u64 was = row->walk.ended_peak;

	for (int i = 0; i < 8 && peak > was; i++) {
		u64 now = __sync_val_compare_and_swap(&row->walk.ended_peak, was, peak);

		if (now == was)
			break;
		was = now;
	}
}

static void raise_peaks(struct task_struct *task, struct account *a, u32 row, u32 process)
{
	struct process_probe_row *service = service_row(row), *own = process_row_at(process);
	u64 peak;

	if (task->flags & PF_KTHREAD || task->vfork_done)
		return;
	peak = peak_at_exit(task, a);
	if (service)
		raise_peak(service, peak);
	if (own)
		raise_peak(own, peak);
}

/* The last thread has ended. a: the account of the process, NULL: it departs, or has none. */
static void end_process(struct task_struct *task, struct account *a, u32 row, u32 process)
{
	raise_peaks(task, a, row, process);
	if (a) {
		account_process_ended(a);
		count_ended(a, row, process);
	} else if (task->pid == task->tgid) {
		count_life(row, process);
	}
}

/* The counts of threads and processes fall also when another CPU has claimed the account. */
static void exit_account(struct task_struct *task, u32 row, u32 process)
{
	struct account *a = account_claim(task, row);

	if (a) {
		fold(task, &a->added, row, process);
		account_put(a);
	}
	a = bpf_task_storage_get(&accounts, task, NULL, 0);
	if (!a)
		return;
	account_thread_ended(a);
	if (task->pid == task->tgid && task->signal->live.counter && task_group_execs(task))
		account_process_ended(a);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(process_exit, struct task_struct *task)
{
	struct task_struct *leader = task->group_leader;
	bool last = task->signal->live.counter == 0;
	struct service_task *st = service_task(leader);
	u32 row = st ? st->row : SERVICE_OTHER, process = st ? st->process_row : 0;
	struct account *a = bpf_task_storage_get(&accounts, task, NULL, 0);
	struct departure *d = !a && departs(task) ? departure_claim(task, row, process) : NULL;

	if (d)
		fold(task, &d->added, row, process);
	else
		exit_account(task, row, process);
	if (last && (!d || task != leader))
		a = bpf_task_storage_get(&accounts, leader, NULL, 0);
	if (last)
		end_process(task, a, row, process);
	return 0;
}

/* The leader of a thread may have been freed, so the row is read from the thread's account. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(process_free, struct task_struct *task)
{
	struct departure *d = departure_of(task);
	struct service_task *st;
	struct account *a;

	if (d) {
		fold(task, &d->added, d->row, d->process);
		departure_free(d);
		return 0;
	}
	st = service_task(task);
	a = bpf_task_storage_get(&accounts, task, NULL, 0);
	if (!a)
		return 0;
	fold(task, &a->added, st ? st->row : a->row, st ? st->process_row : 0);
	account_thread_ended(a);
	account_process_ended(a);
	if (st)
		count_ended(a, st->row, st->process_row);
	return 0;
}

char LICENSE[] SEC("license")
	HELP("Processes: CPU, memory, input and output of the processes of each service") =
		"Dual MIT/GPL";
