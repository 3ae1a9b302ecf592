/* SPDX-License-Identifier: MIT */
#ifndef EBPF_THREAD_H
#define EBPF_THREAD_H

#include <pthread.h>

/* Starts a thread that gets no signals: these are for the daemon's own threads. The caller joins it. Returns 0
 * or a negative errno. */
int thread_start(pthread_t *ret_thread, void *(*run)(void *context), void *context);

#endif
