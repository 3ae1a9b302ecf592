/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * CPU time up to now, and divided into user and system, as the kernel does it for /proc
 * (cputime_adjust): by the ticks that met a thread in all its life, with
 * neither ever less than it has been. What was too much or too little by the
 * few ticks of one interval is made up for in the next.
 * Included by the BPF side and by its test.
 */
#ifndef CPUTIME_H
#define CPUTIME_H

#include <linux/types.h>

/* CPU time of a thread that is on a CPU now, of which sum was known at start; in
 * ns. A CPU that has not said more for longer than tick_max is one that the
 * hypervisor has stopped, nobody knows when: it has not run for that long. */
static inline __u64 cputime_until(__u64 sum, __u64 start, __u64 now, __u64 tick_max)
{
	return now > start && now - start <= tick_max ? sum + (now - start) : sum;
}

/* part/whole of n, at most n/2^40 and 3 too little: the ratio is taken as two
 * digits of 20 bits. 0 < whole, part <= whole < 2^63; of ticks (multiples of
 * 2^8 ns) above 26 days a millisecond of either is not looked at. */
static inline __u64 cputime_share(__u64 n, __u64 part, __u64 whole)
{
	__u64 high, low;

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

/* Likewise of any two: at most n, 0 of a whole of 0. */
static inline __u64 cputime_part(__u64 n, __u64 part, __u64 whole)
{
	return whole ? cputime_share(n, part < whole ? part : whole, whole) : 0;
}

/* exec: CPU time in all, ns; stime of ticks: ns of ticks in the kernel and of
 * all. *user and *system: as divided before; their sum becomes exec, or stays
 * where exec is less. Without a tick all of it is the user's. */
static inline void cputime_divide(__u64 exec, __u64 stime, __u64 ticks, __u64 *user, __u64 *system)
{
	__u64 now = 0;

	if (exec <= *user + *system)
		return;
	if (ticks)
		now = cputime_share(exec, stime, ticks);
	if (now < *system)
		now = *system;
	if (now > exec - *user)
		now = exec - *user;
	*user = exec - now;
	*system = now;
}

#endif
