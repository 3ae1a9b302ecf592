/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Rows of the process probe, and the accounts of threads: how much of each thread's counters is in
 * the rows already.
 */
#ifndef ACCOUNT_BPF_H
#define ACCOUNT_BPF_H

#include "refused.bpf.h"
#include "service_cpu.bpf.h"
#include "storage.bpf.h"
#include "task.bpf.h"
#include "walk.bpf.h"

u64 read_ns; /* start of this walk, by CLOCK_BOOTTIME */

struct process_probe_row {
	u64 user_ns METRIC("ps_cputime:user scale=1/1000") UNIT("microseconds")
		HELP("CPU time, user: split from system time as in /proc");
	u64 system_ns METRIC("ps_cputime:syst scale=1/1000") UNIT("microseconds")
		HELP("CPU time, system: split from user time as in /proc");
	u64 cpu_ns METRIC("gauge-cpu_percent rate rank scale=1/10000000 active=10000000")
		UNIT("percent of one CPU") HELP("CPU: user and system time together") DEFAULT(off);
	u64 wait_ns METRIC("delay_rate-delay-cpu rate scale=1/1000000000")
		UNIT("seconds per second") HELP(
			"Run-queue wait: time in which threads were ready and waited for a CPU");
	u64 voluntary METRIC("contextswitch-voluntary") UNIT("switches")
		HELP("Context switches, voluntary: the thread had to wait for something")
			DEFAULT(off);
	u64 involuntary METRIC("contextswitch-involuntary") UNIT("switches")
		HELP("Context switches, involuntary: another thread got the CPU") DEFAULT(off);
	u64 minor_faults METRIC("ps_pagefaults:minflt") UNIT("faults")
		HELP("Page faults, minor: resolved without a disk") DEFAULT(off);
	u64 major_faults METRIC("ps_pagefaults:majflt") UNIT("faults")
		HELP("Page faults, major: resolved by reading from a disk") DEFAULT(off);
	u64 read_chars METRIC("io_octets:rx active=1000000") UNIT("bytes")
		HELP("Read by calls: from files, sockets, pipes and all else") DEFAULT(off);
	u64 write_chars METRIC("io_octets:tx active=1000000") UNIT("bytes")
		HELP("Written by calls: to files, sockets, pipes and all else") DEFAULT(off);
	u64 read_calls METRIC("io_ops:read") UNIT("calls")
		HELP("Read calls: read and similar calls, on any descriptor") DEFAULT(off);
	u64 write_calls METRIC("io_ops:write") UNIT("calls")
		HELP("Write calls: write and similar calls, on any descriptor") DEFAULT(off);
	u64 read_bytes METRIC("disk_octets:read active=1000000") UNIT("bytes")
		HELP("Read from disk: bytes that storage had to read");
	u64 write_bytes METRIC("disk_octets:write active=1000000") UNIT("bytes")
		HELP("Written to disk: bytes that storage will have to write");
	u64 started METRIC("total_events-processes_started") UNIT("processes")
		HELP("Processes started: by fork, or moved here from another service");
	u64 ended METRIC("total_events-processes_ended") UNIT("processes")
		HELP("Processes ended: exited, or moved to another service") DEFAULT(off);
	u64 processes METRIC("ps_count:processes") UNIT("processes")
		HELP("Processes: at the reading, without zombies");
	u64 threads METRIC("ps_count:threads") UNIT("threads") HELP("Threads: at the reading");
	u64 rss_bytes METRIC("ps_rss") UNIT("bytes")
		HELP("Resident memory: at the reading; a shared page counts for each process");
	u64 rss_peak_bytes METRIC("ps_rss-peak") UNIT("bytes") HELP(
		"Highest resident memory: within the interval, by the kernel's high-water marks");
	u64 vm_bytes METRIC("ps_vm") UNIT("bytes")
		HELP("Virtual size: address space at the reading") DEFAULT(off);
	u64 swap_bytes METRIC("swap") UNIT("bytes") HELP("Swapped out: at the reading")
		DEFAULT(off);

	/* What the walk adds up; it is copied to the members above when the walk is complete. */
	struct {
		u64 user_ns; /* never decreases: the sum of all additions */
		u64 system_ns;
		s64 processes; /* from here to swap: sums over the accounts */
		s64 threads;
		s64 rss;
		s64 vm;
		s64 swap;
		u64 rise;       /* pages: the largest excess of a peak above the current size */
		u64 ended_peak; /* pages: the largest peak of a process that ended */
		u64 peak;       /* pages: the peak that was reported */
	} walk;
};

MMAP_ARRAY(process_services, struct process_probe_row, SERVICE_FIRST) SUBJECT("service");

MMAP_ARRAY(process_rows, struct process_probe_row, 1) SUBJECT("process");

/* Of each thread that has been seen: what of it is in the rows already. */
struct account {
	struct counters added;
	u64 seen_ns;
	u64 mm;          /* address space that the next three belong to */
	u64 vm;          /* pages of the process, in its leader's account */
	u32 rss;         /* likewise */
	u32 swap;        /* likewise */
	u32 thread_at;   /* row pair in which the thread is counted, see usage.bpf.h */
	u32 process_at;  /* row pair in which the process and its memory are counted */
	u32 hiwater;     /* pages: the kernel's high-water mark at the last reading */
	u32 spike;       /* pages: highest size since then; with exact_peak */
	u32 maxrss;      /* pages: high-water mark, at exec, of what ran before in this process */
	u32 memory_walk; /* number of the walk that last read the memory */
	u32 ended;       /* counted as ended */
	u32 row;
	u32 started; /* counted as started, in `row` */
	u16 known;
	u16 changes; /* changes of the memory's size; with exact_peak */
	u32 busy;
};

/* With 72 bytes of the kernel's own this just fits the slab class of 256. */
_Static_assert(sizeof(struct account) <= 184, "an account of each thread costs twice as much");

TASK_STORAGE(accounts, struct account);

/* Of a thread that has exited without an account, until it is freed: what its exit has added. So a
 * thread that lives only between two walks needs no account. */
struct departure {
	u64 task; /* its address, 0: free */
	u64 began; /* its start_boottime: one that a pause of the probe has left is of no other task */
	struct counters added;
	u32 row;
	u32 process;
};

#define DEPARTURES 1024

/* By pid. A thread that finds its entry taken gets an account. */
ARRAY(departures, struct departure, DEPARTURES);

static u64 since_ns; /* start of the first walk: older threads count from here on */
static u32 walk_number;

static struct process_probe_row *service_row(u32 row)
{
	return bpf_map_lookup_elem(&process_services, &row);
}

static struct process_probe_row *process_row_at(u32 process)
{
	return process ? bpf_map_lookup_elem(&process_rows, &process) : NULL;
}

static bool ran_before(u64 start_boottime)
{
	return !since_ns || start_boottime < since_ns;
}

/* Most counters of a thread have not grown. */
static __always_inline void add_growth(u64 *counter, u64 n)
{
	if (n)
		add(counter, n);
}

/* Global, so that the verifier checks it once. */
__noinline int add_counters(struct process_probe_row *row, const struct counters *d)
{
	if (!row || !d)
		return 0;
	add_growth(&row->walk.user_ns, d->user);
	add_growth(&row->walk.system_ns, d->system);
	add_growth(&row->wait_ns, d->wait);
	add_growth(&row->voluntary, d->voluntary);
	add_growth(&row->involuntary, d->involuntary);
	add_growth(&row->minor_faults, d->minor_faults);
	add_growth(&row->major_faults, d->major_faults);
	add_growth(&row->read_chars, d->read_chars);
	add_growth(&row->write_chars, d->write_chars);
	add_growth(&row->read_calls, d->read_calls);
	add_growth(&row->write_calls, d->write_calls);
	add_growth(&row->read_bytes, d->read_bytes);
	add_growth(&row->write_bytes, d->write_bytes);
	return 0;
}

/* Does the thread exit without an account? Not a leader that exits before other threads: the
 * account of the process is the leader's. */
static bool departs(const struct task_struct *task)
{
	return task->flags & PF_EXITING && !ran_before(task->start_boottime) &&
	       (task != task->group_leader || task->signal->live.counter == 0);
}

/* NULL: none is free. */
static struct departure *departure_claim(struct task_struct *task, u32 row, u32 process)
{
	u32 at = (u32)task->pid % DEPARTURES;
	struct departure *d = bpf_map_lookup_elem(&departures, &at);

	if (!d || __sync_val_compare_and_swap(&d->task, 0, (u64)task))
		return NULL;
	d->began = task->start_boottime;
	d->row = row;
	d->process = process;
	return d;
}

/* NULL: it has an account, or is not counted. */
static struct departure *departure_of(struct task_struct *task)
{
	u32 at = (u32)task->pid % DEPARTURES;
	struct departure *d = bpf_map_lookup_elem(&departures, &at);

	return d && d->task == (u64)task && d->began == task->start_boottime ? d : NULL;
}

static void departure_free(struct departure *d)
{
	__builtin_memset(&d->added, 0, sizeof(d->added));
	__sync_lock_test_and_set(&d->task, 0);
}

/* NULL: the walk, an exec or an exit on another CPU has it; or there is no memory. */
static struct account *account_make(struct task_struct *task)
{
	struct account *a = bpf_task_storage_get(&accounts, task, NULL, 0);

	if (!a)
		a = or_refused(task_storage_make(&accounts, task));
	if (!a) {
		walk_all();
		return NULL;
	}
	return __sync_lock_test_and_set(&a->busy, 1) ? NULL : a;
}

/* What a thread did before the first walk counts nowhere. */
static void account_begin(struct account *a, struct task_struct *task, u32 row)
{
	bool walking;

	if (a->known)
		return;
	a->known = 1;
	a->row = row;
	if (ran_before(task->start_boottime)) {
		walking = since_ns == read_ns;
		task_counters_read(task, &a->added, walking);
		read_cputime(task, walking ? exec_until_walk(task) : task->se.sum_exec_runtime,
			     &a->added, &a->added);
		a->seen_ns = read_ns;
		a->started = 1;
	}
}

static void account_put(struct account *a)
{
	__sync_lock_test_and_set(&a->busy, 0);
}

/* Claims the account of a thread, made when the thread is first seen, until account_put(). NULL:
 * another CPU has it, and what would have been added now is added next time; or there is no memory.
 */
static struct account *account_claim(struct task_struct *task, u32 row)
{
	struct account *a = account_make(task);

	if (a)
		account_begin(a, task, row);
	return a;
}

/* The same for the walk, which leaves threads that depart to their exits. The second test is for an
 * exit that may have found no account just before this one was made. */
static struct account *account_claim_walking(struct task_struct *task, u32 row)
{
	struct account *a = bpf_task_storage_get(&accounts, task, NULL, 0);

	if (!a && departs(task))
		return NULL;
	a = account_make(task);
	if (!a)
		return NULL;
	if (!a->known && departs(task)) {
		account_put(a);
		return NULL;
	}
	account_begin(a, task, row);
	return a;
}

/* CPU time of a thread, limited to the time that has passed since it was last read: the excess was
 * used while this walk ran. */
static u64 exec_limited(struct task_struct *task, struct account *a)
{
	u64 limit = a->added.user + a->added.system + read_ns -
		    (a->seen_ns ? a->seen_ns : task->start_boottime);
	u64 exec = exec_until_walk(task);

	a->seen_ns = read_ns;
	return exec < limit ? exec : limit;
}

/* For other probes, see service_cpu.bpf.h. */
static void publish_cpu(u32 row, const struct counters *d)
{
	struct service_cpu *published = service_cpu_of(row);

	if (!published)
		return;
	add(&published->cpu_ns, d->user + d->system);
	add(&published->wait_ns, d->wait);
}

/* Adds the growth of the counters, as read in d, beyond `added`. */
static void add_grown(struct counters *d, struct counters *added, u32 row, u32 process)
{
	struct process_probe_row *service = service_row(row);

	if (!service || !counters_growth(d, added))
		return;
	add_counters(service, d);
	publish_cpu(row, d);
	add_counters(process_row_at(process), d);
}

/* Adds what a thread has done since the last addition; for most threads that is nothing. */
static void fold_walking(struct task_struct *task, struct account *a, u32 row, u32 process)
{
	struct counters d;

	task_counters_read(task, &d, true);
	read_cputime(task, exec_limited(task, a), &a->added, &d);
	add_grown(&d, &a->added, row, process);
}

/* The same at another time, without what the thread does just now. */
static void fold(struct task_struct *task, struct counters *added, u32 row, u32 process)
{
	struct counters d;

	task_counters_read(task, &d, false);
	read_cputime(task, task->se.sum_exec_runtime, added, &d);
	add_grown(&d, added, row, process);
}

static void count_started(struct account *a, u32 row, u32 process)
{
	struct process_probe_row *service = service_row(row), *own = process_row_at(process);

	if (__sync_lock_test_and_set(&a->started, 1))
		return;
	if (service)
		add(&service->started, 1);
	if (own)
		add(&own->started, 1);
}

/* Moves a process that was counted in one service to another. The walk and an exit may do this at
 * once: one of them counts. */
static void change_service(struct account *a, u32 row)
{
	struct process_probe_row *from, *to = service_row(row);
	u32 was = a->row;

	if (was == row || __sync_val_compare_and_swap(&a->row, was, row) != was || !a->started)
		return;
	from = service_row(was);
	if (from)
		add(&from->ended, 1);
	if (to)
		add(&to->started, 1);
}

/* Counts the exit of a process once, at the exit of its last thread or when it is freed. It may have
 * moved to another service since the last walk. */
static void count_ended(struct account *a, u32 row, u32 process)
{
	struct process_probe_row *service = service_row(row);

	if (__sync_lock_test_and_set(&a->ended, 1))
		return;
	change_service(a, row);
	count_started(a, row, process);
	if (service)
		add(&service->ended, 1);
}

/* Counts the start and the exit of a process that departs. */
static void count_life(u32 row, u32 process)
{
	struct process_probe_row *service = service_row(row), *own = process_row_at(process);

	if (service) {
		add(&service->started, 1);
		add(&service->ended, 1);
	}
	if (own)
		add(&own->started, 1);
}

#endif
