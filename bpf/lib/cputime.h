/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * CPU time of a thread up to now, and its division into user and system time as the kernel does it
 * for /proc (cputime_adjust): by all ticks that have hit the thread in its life, while neither part
 * ever decreases. An error from the few ticks of one interval is corrected in the next. Included by
 * the BPF side and by its test.
 */
#ifndef CPUTIME_H
#define CPUTIME_H

#include <linux/types.h>

/* CPU time in ns of a thread that is on a CPU now; sum was its CPU time at start. If a CPU has not
 * updated for longer than tick_max, the hypervisor has stopped it at an unknown time, and nothing
 * is added. */
static inline __u64 cputime_until(__u64 sum, __u64 start, __u64 now, __u64 tick_max)
{
	return now > start && now - start <= tick_max ? sum + (now - start) : sum;
}

/* n * part / whole, rounded down where both are below 2^32, otherwise too small by at most
 * n/2^40 + 3: the ratio is computed as two digits of 20 bits. Requires 0 < whole and
 * part <= whole < 2^63; for ticks (multiples of 2^8 ns) above 26 days up to a millisecond of either
 * is ignored. */
static inline __u64 cputime_fraction(__u64 n, __u64 part, __u64 whole)
{
	__u64 high, low;

	if (!((n | whole) >> 32))
		return n * part / whole;
	if (whole >> 43) {
		part >>= 8;
		whole >>= 8;
	}
	if (whole >> 43) {
		part >>= 12;
		whole >>= 12;
	}
	part <<= 20;
	high = part / whole;
	low = ((part - high * whole) << 20) / whole;
	return (n >> 20) * high + ((n & 0xfffff) * high >> 20) + ((n >> 20) * low >> 20);
}

/* Likewise for any part and whole: at most n, and 0 if whole is 0. */
static inline __u64 cputime_part(__u64 n, __u64 part, __u64 whole)
{
	return whole ? cputime_fraction(n, part < whole ? part : whole, whole) : 0;
}

/* exec: total CPU time in ns; stime, ticks: ns of ticks in the kernel and of all ticks. *user and
 * *system: the previous division. Their sum becomes exec, or stays if exec is smaller. Without
 * ticks all time is user time. */
static inline void cputime_divide(__u64 exec, __u64 stime, __u64 ticks, __u64 *user, __u64 *system)
{
	__u64 now = 0;

	if (exec <= *user + *system)
		return;
	if (ticks)
		now = cputime_fraction(exec, stime, ticks);
	if (now < *system)
		now = *system;
	if (now > exec - *user)
		now = exec - *user;
	*user = exec - now;
	*system = now;
}

#endif
