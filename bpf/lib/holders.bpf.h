/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Which service has a socket open, by walks over all open files. A socket goes to another service
 * if a walk has found it open there and not in its own, as after a fork, an exec, or where systemd
 * has listened for others.
 */
#ifndef HOLDERS_BPF_H
#define HOLDERS_BPF_H

#include "map.bpf.h"

#define INIT_TGID 1 /* has only sockets on which it listens for others */

/* Of a socket, by the last walk that has found it. */
struct holders {
	u32 walk;     /* the number of that walk, 0: none */
	u32 other;    /* 1 + the row of a service that is not its own; 0: there was none */
	u64 is_owned; /* its own service has it open */
};

/* The service to which a socket of this service belongs. */
static __always_inline u32 holders_row(const struct holders *h, u32 row)
{
	return h->walk && !h->is_owned && h->other ? h->other - 1 : row;
}

/* This walk has found a socket of the service `row` open in a process of `holder`. */
static __always_inline void holders_note(struct holders *h, u32 walk, u32 row, u32 holder)
{
	if (h->walk != walk) {
		h->walk = walk;
		h->is_owned = false;
		h->other = 0;
	}
	if (row == holder)
		h->is_owned = true;
	else if (!h->other)
		h->other = holder + 1;
}

#endif
