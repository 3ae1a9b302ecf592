/* SPDX-License-Identifier: MIT */
/*
 * Functions that a test probes, and counts of their returns by the callers.
 */
#ifndef RETURNS_H
#define RETURNS_H

#include "load.h"

#define FUNCTION __attribute__((noinline, noclone))

/* Hides a value from the compiler, so that calls are not optimised away. */
#define HIDE(value) asm volatile("" : "+r"(value)::"memory")

struct counted {
	unsigned long calls, returns, failed;
};

static inline int count_return(struct counted *counted, int returned)
{
	__atomic_add_fetch(&counted->returns, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&counted->failed, returned < 0, __ATOMIC_RELAXED);
	return returned;
}

/* Functions that may not return are only called by this macro, which counts calls and returns. */
#define CALL(function, ...)                                                         \
	({                                                                          \
		__atomic_add_fetch(&counted_##function.calls, 1, __ATOMIC_RELAXED); \
		count_return(&counted_##function, function(__VA_ARGS__));           \
	})

/* Threads and coroutines of load_returns. */
extern struct counted counted_exiting, counted_cancelled, counted_torn, counted_sampled,
	counted_switched;
extern unsigned long cleanups, broken_walks;
extern unsigned walked;
void exit_threads(int round);
void sample_stacks(int rounds);
void switch_stacks(int round);
int main(void);

#endif
