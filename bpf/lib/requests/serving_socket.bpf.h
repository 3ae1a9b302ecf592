/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The socket whose request a thread has in hand. The request ends when the service closes the
 * socket, for which not every kind of socket has a hook: whoever uses the address finds out.
 */
#ifndef SERVING_SOCKET_BPF_H
#define SERVING_SOCKET_BPF_H

#include "serving_thread.bpf.h"
#include "socket.bpf.h"

/* Its address, 0: none. Global: verified once. */
__noinline u64 socket_in_hand(struct serving *s)
{
	u64 sk = s ? s->socket : 0;

	if (!sk || socket_inode((const struct sock *)sk) == s->inode)
		return sk;
	__sync_val_compare_and_swap(&s->socket, sk, 0);
	return 0;
}

#endif
