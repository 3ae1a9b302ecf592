/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CLOCK_H
#define EBPF_CLOCK_H

/* Clocks in nanoseconds. */

#include <stdint.h>
#include <time.h>

#define NS_PER_S 1000000000ULL

/* CLOCK_BOOTTIME: includes suspended time, so that rates over a suspend stay right. */
static inline uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* CLOCK_MONOTONIC, as bpf_ktime_get_ns() returns it: without suspended time. */
static inline uint64_t clock_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* CPU time of this thread. */
static inline uint64_t clock_cpu_ns(void)
{
	struct timespec own;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
	return (uint64_t)own.tv_sec * NS_PER_S + (uint64_t)own.tv_nsec;
}

#endif
