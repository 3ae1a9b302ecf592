/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What listing.bpf.c is told before load: its only constant.
 */
#ifndef LISTING_H
#define LISTING_H

#include <linux/types.h>

#define LISTED_CALLS 512

enum family { FAMILY_NONE, FAMILY_POLL, FAMILY_RECEIVE, FAMILY_SEND, FAMILY_END };

struct listing {
	__u32 tgid;
	__u8 family_of[LISTED_CALLS]; /* by number of the system call */
};

#endif
