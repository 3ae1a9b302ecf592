/* SPDX-License-Identifier: MIT */
/*
 * load_preempt TAG: on each line "SECONDS" eight threads call busy() for so long, all of them on one
 * CPU, each with a name of its own, TAG and a number. One call of four fails. Half of the threads
 * do nothing else; the others sleep for a moment after each call and are real-time threads: when
 * they wake up they preempt what the kernel does for the first ones. It says {"NAME": [calls,
 * failed], ...}, all since the begin.
 */
#include "load.h"

#include <pthread.h>
#include <stdbool.h>

#define THREADS 8
#define PAUSE_NS 2000000
#define BETWEEN \
	24000 /* empty rounds between two calls, so that the probe's cost stays below MaxOverhead */

__attribute__((noinline, noclone)) int busy(const char *name, unsigned long n);

struct caller {
	char name[16];
	bool pauses;
	unsigned long calls, failed;
};

static struct caller callers[THREADS];
static volatile bool stop;

int busy(const char *name, unsigned long n)
{
	/* Not optimised away. Starts with a nop, which the kernel need not single-step. */
	asm volatile("nop" : "+r"(name), "+r"(n)::"memory");
	return n % 4 == 0 ? -1 : 1;
}

static void call(struct caller *caller)
{
	caller->failed += busy(caller->name, caller->calls++) < 0;
}

static void *call_until_stop(void *of)
{
	struct caller *caller = of;

	while (!stop) {
		call(caller);
		if (caller->pauses)
			sleep_ns(PAUSE_NS);
		for (volatile unsigned i = 0; i < BETWEEN && !caller->pauses; i++)
			;
	}
	return NULL;
}

static void start(pthread_t *ret_thread, struct caller *caller)
{
	static const struct sched_param priority = { .sched_priority = 1 };
	int status = pthread_create(ret_thread, NULL, call_until_stop, caller);

	if (status == 0 && caller->pauses)
		status = pthread_setschedparam(*ret_thread, SCHED_FIFO, &priority);
	if (status)
		errx(1, "thread %s: %s", caller->name, strerror(status));
}

static void run(unsigned seconds)
{
	pthread_t threads[THREADS];

	stop = false;
	for (unsigned i = 0; i < THREADS; i++)
		start(&threads[i], &callers[i]);
	sleep_ns(seconds * 1000000000ULL);
	stop = true;
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void report(void)
{
	char text[THREADS * 80] = "";

	for (unsigned i = 0; i < THREADS; i++)
		sprintf(text + strlen(text), "%s\"%s\": [%lu, %lu]", i ? ", " : "{",
			callers[i].name, callers[i].calls, callers[i].failed);
	say(strcat(text, "}\n"));
}

int main(int count, char **arguments)
{
	char line[100];

	if (count != 2)
		errx(1, "usage: load_preempt TAG");
	die_with_parent();
	stay_on_cpu(0);
	for (unsigned i = 0; i < THREADS; i++) {
		snprintf(callers[i].name, sizeof(callers[i].name), "%.8s%u", arguments[1], i);
		callers[i].pauses = i >= THREADS / 2;
	}
	for (;;) {
		run((unsigned)strtoul(hear(line, sizeof(line)), NULL, 10));
		report();
	}
}
