/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Current threads, processes and memory of services and processes, as sums in their rows. Each
 * account stores in which rows it is counted and with how much, and whoever changes the account
 * changes the rows, so the walk need not visit sleeping tasks. Only the claimant of an account adds
 * to rows. An exiting thread or process does not wait for the claimant: it subtracts what is
 * counted and marks the account as ended for good, so the claimant checks for that mark after it
 * has added.
 */
#ifndef USAGE_BPF_H
#define USAGE_BPF_H

#include "account.bpf.h"

/* A row pair: the row of the service plus one, above the row of the process. */
#define ROW_PAIR_PROCESS_BITS 14
#define ROW_PAIR_NONE 0
#define ROW_PAIR_ENDED ~0U

static u32 row_pair_of(u32 row, u32 process)
{
	return (row + 1) << ROW_PAIR_PROCESS_BITS | (process & ((1U << ROW_PAIR_PROCESS_BITS) - 1));
}

static struct process_probe_row *row_pair_service(u32 pair)
{
	return service_row((pair >> ROW_PAIR_PROCESS_BITS) - 1);
}

static struct process_probe_row *row_pair_process(u32 pair)
{
	return process_row_at(pair & ((1U << ROW_PAIR_PROCESS_BITS) - 1));
}

__noinline int usage_add_threads(u32 pair, s64 n)
{
	struct process_probe_row *service = row_pair_service(pair), *own = row_pair_process(pair);

	if (service)
		__sync_fetch_and_add(&service->walk.threads, n);
	if (own)
		__sync_fetch_and_add(&own->walk.threads, n);
	return 0;
}

__noinline int usage_add_processes(u32 pair, s64 n)
{
	struct process_probe_row *service = row_pair_service(pair), *own = row_pair_process(pair);

	if (service)
		__sync_fetch_and_add(&service->walk.processes, n);
	if (own)
		__sync_fetch_and_add(&own->walk.processes, n);
	return 0;
}

static void usage_add_to_row(struct process_probe_row *row, s64 rss, s64 vm, s64 swap)
{
	__sync_fetch_and_add(&row->walk.rss, rss);
	__sync_fetch_and_add(&row->walk.vm, vm);
	__sync_fetch_and_add(&row->walk.swap, swap);
}

__noinline int usage_add_memory(u32 pair, s64 rss, s64 vm, s64 swap)
{
	struct process_probe_row *service = row_pair_service(pair), *own = row_pair_process(pair);

	if (service)
		usage_add_to_row(service, rss, vm, swap);
	if (own)
		usage_add_to_row(own, rss, vm, swap);
	return 0;
}

/* Sets the memory of a process. */
static void account_memory(struct account *a, u32 pair, u32 rss, u64 vm, u32 swap)
{
	s64 more_rss = (s64)rss - __sync_lock_test_and_set(&a->rss, rss);
	s64 more_vm = vm - __sync_lock_test_and_set(&a->vm, vm);
	s64 more_swap = (s64)swap - __sync_lock_test_and_set(&a->swap, swap);

	if (more_rss || more_vm || more_swap)
		usage_add_memory(pair, more_rss, more_vm, more_swap);
}

/* In the claimed account of a leader: counts the process in this pair, and moves it and its memory
 * there from another; false: the process has ended. */
static bool account_process(struct account *a, u32 pair)
{
	u32 was = *(volatile u32 *)&a->process_at;
	u64 vm = a->vm;
	u32 rss = a->rss, swap = a->swap;

	if (was == pair || was == ROW_PAIR_ENDED)
		return was == pair;
	if (was)
		account_memory(a, was, 0, 0, 0);
	if (__sync_val_compare_and_swap(&a->process_at, was, pair) != was)
		return false;
	if (was)
		usage_add_processes(was, -1);
	usage_add_processes(pair, 1);
	account_memory(a, pair, rss, vm, swap);
	return true;
}

/* Call after adding to the memory of a process that may have ended meanwhile. */
static void account_check(struct account *a, u32 pair)
{
	if (*(volatile u32 *)&a->process_at == ROW_PAIR_ENDED)
		account_memory(a, pair, 0, 0, 0);
}

static void account_process_ended(struct account *a)
{
	u32 was = __sync_lock_test_and_set(&a->process_at, ROW_PAIR_ENDED);

	if (was == ROW_PAIR_NONE || was == ROW_PAIR_ENDED)
		return;
	usage_add_processes(was, -1);
	account_memory(a, was, 0, 0, 0);
}

static void account_thread(struct account *a, u32 pair)
{
	u32 was = *(volatile u32 *)&a->thread_at;

	if (was == pair || was == ROW_PAIR_ENDED ||
	    __sync_val_compare_and_swap(&a->thread_at, was, pair) != was)
		return;
	if (was)
		usage_add_threads(was, -1);
	usage_add_threads(pair, 1);
}

static void account_thread_ended(struct account *a)
{
	u32 was = __sync_lock_test_and_set(&a->thread_at, ROW_PAIR_ENDED);

	if (was != ROW_PAIR_NONE && was != ROW_PAIR_ENDED)
		usage_add_threads(was, -1);
}

#endif
