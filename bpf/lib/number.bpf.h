/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Numbers of threads. What a probe stores about sleeping threads, and visits in each walk, is in an
 * array of THREADS_MAX entries: a thread gets a number at its first event that needs one, and the
 * probe has to return it in a program on sched_process_exit.
 */
#ifndef NUMBER_BPF_H
#define NUMBER_BPF_H

#include "metric.bpf.h"
#include "storage.bpf.h"

#define THREADS_MAX 8192

#ifndef THREAD_NUMBERS
#define THREAD_NUMBERS /* a tag, for an object that shares the map */
#endif

/* Index in the array plus one; 0: none. */
TASK_STORAGE(thread_numbers, u32) THREAD_NUMBERS;

QUEUE(numbers_free, u32, THREADS_MAX);

u32 numbers_given; /* the highest number assigned so far */

static __always_inline u32 *thread_number(struct task_struct *task)
{
	u32 *number = bpf_task_storage_get(&thread_numbers, task, NULL, 0);

	return number && *number ? number : NULL;
}

/* The number of a thread, assigned if it has none; 0: none is free, or no memory. */
static inline __noinline u32 thread_number_claim(struct task_struct *task)
{
	u32 *number = task_storage_make(&thread_numbers, task), new;

	if (!number || *number)
		return number ? *number : 0;
	if (bpf_map_pop_elem(&numbers_free, &new)) {
		if (numbers_given >= THREADS_MAX)
			return 0;
		new = __sync_fetch_and_add(&numbers_given, 1) + 1;
		if (new > THREADS_MAX)
			return 0;
	}
	if (__sync_val_compare_and_swap(number, 0, new))
		bpf_map_push_elem(&numbers_free, &new, 0);
	return *number;
}

/* Call when the thread exits, after its entry of the array has been cleared. */
static __always_inline void thread_number_give(u32 *number)
{
	u32 free = __sync_lock_test_and_set(number, 0);

	if (free)
		bpf_map_push_elem(&numbers_free, &free, 0);
}

#endif
