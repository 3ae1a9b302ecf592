/* SPDX-License-Identifier: MIT */
/*
 * Threads that do the same at once, on request, and stay: what the kernel has counted of each can be
 * read before and after.
 *   spin MS       each uses so much CPU
 *   sleep N       each sleeps so often, for some ten microseconds
 *   yield N       each offers its CPU to the others so often
 * Each is answered with "done", when all have done it.
 *
 * load_runs THREADS [CPU]
 */
#include "load.h"
#include <pthread.h>

static pthread_barrier_t begun, ended;
static char word[16];
static unsigned long amount;

static void work(void)
{
	if (!strcmp(word, "spin"))
		spin_ns(amount * 1000000);
	for (unsigned long i = 0; !strcmp(word, "sleep") && i < amount; i++)
		sleep_ns(20000);
	for (unsigned long i = 0; !strcmp(word, "yield") && i < amount; i++)
		sched_yield();
}

static void *live(void *unused)
{
	for (;;) {
		pthread_barrier_wait(&begun);
		work();
		pthread_barrier_wait(&ended);
	}
	return unused;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t thread;
	char line[64];

	if (threads < 1)
		errx(2, "usage: load_runs THREADS [CPU]");
	die_with_parent();
	if (argc > 2)
		stay_on_cpu(atoi(argv[2]));
	pthread_barrier_init(&begun, NULL, threads + 1);
	pthread_barrier_init(&ended, NULL, threads + 1);
	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread, NULL, live, NULL))
			errx(1, "pthread_create");
	for (;;) {
		if (sscanf(hear(line, sizeof(line)), "%15s %lu", word, &amount) != 2)
			errx(2, "what is '%s'?", line);
		pthread_barrier_wait(&begun);
		pthread_barrier_wait(&ended);
		say("done\n");
	}
}
