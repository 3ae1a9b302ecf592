/* SPDX-License-Identifier: MIT */
/*
 * In a debug build: no thread waits while it holds a lock.
 */
#include "lock.h"

#ifdef EBPF_DEBUG

#include "message.h"

#include <stdlib.h>

_Thread_local unsigned lock_depth LOCK_DEPTH_MODEL;

void lock_assert_none(const char *what)
{
	if (!lock_depth)
		return;
	message(LOG_ERR, "%s: this thread holds %u locks, and others would wait for it", what,
		lock_depth);
	abort();
}

#endif
