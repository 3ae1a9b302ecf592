/* SPDX-License-Identifier: MIT */
#ifndef EBPF_LOCK_H
#define EBPF_LOCK_H

/* Locks, which are held over work in memory only: never over a file, a helper's reply or a sleep.
 * Built with --enable-debug, each thread counts the locks that it holds, and lock_assert_none()
 * ends the process if there is one. */

#include <pthread.h>

#ifdef EBPF_DEBUG
extern _Thread_local unsigned locks_held;
#define LOCKS_HELD(change) (locks_held += (unsigned)(change))

/* To be called before whatever may wait; `what` is for the message. */
void lock_assert_none(const char *what);
#else
#define LOCKS_HELD(change) ((void)0)

static inline void lock_assert_none(__attribute__((unused)) const char *what)
{
}
#endif

static inline void lock_acquire(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	LOCKS_HELD(1);
}

static inline void lock_release(pthread_mutex_t *lock)
{
	LOCKS_HELD(-1);
	pthread_mutex_unlock(lock);
}

static inline void lock_acquire_shared(pthread_rwlock_t *lock)
{
	pthread_rwlock_rdlock(lock);
	LOCKS_HELD(1);
}

static inline void lock_acquire_exclusive(pthread_rwlock_t *lock)
{
	pthread_rwlock_wrlock(lock);
	LOCKS_HELD(1);
}

/* Releases a lock that was acquired by either of the two. */
static inline void lock_release_rw(pthread_rwlock_t *lock)
{
	LOCKS_HELD(-1);
	pthread_rwlock_unlock(lock);
}

#endif
