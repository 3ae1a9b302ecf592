/* SPDX-License-Identifier: MIT */
#ifndef EBPF_LOCK_H
#define EBPF_LOCK_H

/* Locks, which are held over work in memory only: never over a file, a helper's reply or a sleep.
 * Built with --enable-debug, each thread counts the locks that it holds, and lock_assert_none()
 * ends the process if there is one. */

#include <pthread.h>

#ifdef EBPF_DEBUG
/* The model keeps the plugin from needing a function of the dynamic linker for it. */
#define LOCK_DEPTH_MODEL __attribute__((tls_model("initial-exec")))
extern _Thread_local unsigned lock_depth LOCK_DEPTH_MODEL;
#define LOCK_DEPTH(change) (lock_depth += (unsigned)(change))

/* To be called before whatever may wait; `what` is for the message. */
void lock_assert_none(const char *what);
#else
#define LOCK_DEPTH(change) ((void)0)

static inline void lock_assert_none(__attribute__((unused)) const char *what)
{
}
#endif

static inline void lock_acquire(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	LOCK_DEPTH(1);
}

static inline void lock_release(pthread_mutex_t *lock)
{
	LOCK_DEPTH(-1);
	pthread_mutex_unlock(lock);
}

static inline void lock_acquire_shared(pthread_rwlock_t *lock)
{
	pthread_rwlock_rdlock(lock);
	LOCK_DEPTH(1);
}

static inline void lock_acquire_exclusive(pthread_rwlock_t *lock)
{
	pthread_rwlock_wrlock(lock);
	LOCK_DEPTH(1);
}

/* Releases a lock that was acquired by either of the two. */
static inline void lock_release_rw(pthread_rwlock_t *lock)
{
	LOCK_DEPTH(-1);
	pthread_rwlock_unlock(lock);
}

#endif
