/* SPDX-License-Identifier: MIT */
/*
 * Threads of the engine, beside collectd's.
 */
#include "thread.h"

#include <signal.h>

int thread_start(pthread_t *ret_thread, void *(*run)(void *context), void *context)
{
	sigset_t all, before;
	int status;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	status = -pthread_create(ret_thread, NULL, run, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return status;
}
