/* SPDX-License-Identifier: MIT */
/*
 * Threads that end within a function, of load_returns: by pthread_exit(), by pthread_cancel() where
 * the thread waits, and anywhere. And threads whose stacks a profiler walks at any instruction.
 */
#include "returns.h"

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unwind.h>

FUNCTION int exiting(int number);
FUNCTION int cancelled(int number);
FUNCTION int torn(int number);
FUNCTION int sampled(int depth);

struct counted counted_exiting, counted_cancelled, counted_torn, counted_sampled;
unsigned long cleanups, broken_walks;
unsigned walked;

int exiting(int number)
{
	HIDE(number);
	if (number % 3 == 0)
		pthread_exit(NULL);
	return number % 3 == 1 ? -1 : number;
}

int cancelled(int number)
{
	HIDE(number);
	if (number % 3 == 0)
		pause();
	return number % 3 == 1 ? -1 : number;
}

static int is_inside;

int torn(int number)
{
	HIDE(number);
	if (number % 3 == 0) {
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
		__atomic_store_n(&is_inside, 1, __ATOMIC_RELEASE);
		for (;;)
			HIDE(number);
	}
	return number % 3 == 1 ? -1 : number;
}

static void clean_up(void *unused)
{
	(void)unused;
	cleanups++;
}

#define THREAD(function)                              \
	static void *function##_thread(void *number)  \
	{                                             \
		pthread_cleanup_push(clean_up, NULL); \
		CALL(function, *(const int *)number); \
		pthread_cleanup_pop(0);               \
		return NULL;                          \
	}
THREAD(exiting)
THREAD(cancelled)
THREAD(torn)

static void run_thread(void *(*start)(void *), int number, int is_cancelled)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, start, &number))
		errx(1, "pthread_create");
	if (start == torn_thread && is_cancelled)
		while (!__atomic_exchange_n(&is_inside, 0, __ATOMIC_ACQUIRE))
			sched_yield();
	if (is_cancelled)
		pthread_cancel(thread);
	pthread_join(thread, NULL);
}

void exit_threads(int round)
{
	run_thread(exiting_thread, round, 0);
	run_thread(cancelled_thread, round, round % 3 == 0);
	run_thread(torn_thread, round, round % 3 == 0);
}

/* --- a profiler --- */

#define SAMPLERS 2
#define FRAMES 64
#define SAMPLED_CALLS 20 /* in a round */
#define SAMPLED_DEPTH 3

static __thread volatile sig_atomic_t is_sampled;

int sampled(int depth)
{
	int below = 0;

	for (int i = 0; i < 8; i++)
		spin_a_little();
	if (depth > 1)
		below = CALL(sampled, depth - 1);
	HIDE(below);
	return depth == 2 ? -1 : below;
}

static void sample(int calls)
{
	is_sampled = 1;
	for (int i = 0; i < calls; i++)
		CALL(sampled, SAMPLED_DEPTH);
	is_sampled = 0;
}

static void *sampler(void *rounds)
{
	sample(*(const int *)rounds * SAMPLED_CALLS);
	return NULL;
}

static void walk(int signal)
{
	void *frames[FRAMES];
	int count;

	(void)signal;
	if (!is_sampled)
		return;
	count = backtrace(frames, FRAMES);
	for (int i = 0; i < count; i++) {
		void *function = _Unwind_FindEnclosingFunction((char *)frames[i] - 1);

		if (function == (void *)main || function == (void *)sampler) {
			__atomic_store_n(&walked, 1, __ATOMIC_RELAXED);
			return;
		}
	}
	__atomic_add_fetch(&broken_walks, 1, __ATOMIC_RELAXED);
}

static void set_timer(long interval_us)
{
	const struct itimerval timer = { .it_interval.tv_usec = interval_us,
					 .it_value.tv_usec = interval_us };

	if (setitimer(ITIMER_PROF, &timer, NULL))
		err(1, "setitimer");
}

void sample_stacks(int rounds)
{
	const struct sigaction action = { .sa_handler = walk, .sa_flags = SA_RESTART };
	pthread_t threads[SAMPLERS];
	void *frame;

	backtrace(&frame, 1); /* which loads a library on first use */
	sigaction(SIGPROF, &action, NULL);
	set_timer(1000);
	for (int i = 0; i < SAMPLERS; i++)
		if (pthread_create(&threads[i], NULL, sampler, &rounds))
			errx(1, "pthread_create");
	sample(rounds * SAMPLED_CALLS);
	for (int i = 0; i < SAMPLERS; i++)
		pthread_join(threads[i], NULL);
	set_timer(0);
}
