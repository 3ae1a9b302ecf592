/* SPDX-License-Identifier: MIT */
/*
 * Work done by threads or processes that end. On "go", COUNT of them, AT_ONCE
 * at a time, use SPIN_US of CPU each; then one line tells what that was:
 *   own_ns       CPU of the process itself and all its threads, since "go"
 *   children_us  CPU of its children, as wait4 gave it
 * The process is idle before and after, so both are exact between any moment
 * before "go" and any after the answer.
 *
 * load_churn threads|processes COUNT AT_ONCE SPIN_US [CPU]
 */
#include "load.h"
#include <pthread.h>
#include <signal.h>

#define AT_ONCE_MAX 256

static uint64_t spin_us;

static void *thread_life(void *unused)
{
	(void)unused;
	spin_ns(spin_us * 1000);
	return NULL;
}

static void churn_threads(int count, int at_once)
{
	pthread_t thread[AT_ONCE_MAX];

	for (int i = 0; i < count + at_once; i++) {
		if (i >= at_once)
			pthread_join(thread[i % at_once], NULL);
		if (i < count && pthread_create(&thread[i % at_once], NULL, thread_life, NULL))
			errx(1, "pthread_create");
	}
}

static uint64_t churn_processes(int count, int at_once)
{
	pid_t child[AT_ONCE_MAX];
	uint64_t used_us = 0;

	for (int i = 0; i < count + at_once; i++) {
		struct rusage usage;

		if (i >= at_once) {
			if (wait4(child[i % at_once], NULL, 0, &usage) < 0)
				err(1, "wait4");
			used_us += rusage_us(&usage);
		}
		if (i >= count)
			continue;
		child[i % at_once] = fork();
		if (child[i % at_once] < 0)
			err(1, "fork");
		if (child[i % at_once] == 0) {
			spin_ns(spin_us * 1000);
			_exit(0);
		}
	}
	return used_us;
}

int main(int argc, char **argv)
{
	uint64_t begin, children_us = 0;
	int count, at_once;
	char line[128];

	if (argc < 5)
		errx(2, "usage: load_churn threads|processes COUNT AT_ONCE SPIN_US [CPU]");
	die_with_parent();
	count = atoi(argv[2]);
	at_once = atoi(argv[3]);
	if (at_once < 1 || at_once > AT_ONCE_MAX || count < at_once)
		errx(2, "AT_ONCE: 1 .. %d and no more than COUNT", AT_ONCE_MAX);
	spin_us = atoi(argv[4]);
	if (argc > 5)
		stay_on_cpu(atoi(argv[5]));
	hear(line, sizeof(line));
	begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (strcmp(argv[1], "threads") == 0)
		churn_threads(count, at_once);
	else
		children_us = churn_processes(count, at_once);
	/* The last thread that was joined may still be on its way out. */
	sleep_ns(50000000);
	snprintf(line, sizeof(line), "{\"own_ns\": %lu, \"children_us\": %lu}\n",
		 clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin, children_us);
	say(line);
	hear(line, sizeof(line));
	return 0;
}
