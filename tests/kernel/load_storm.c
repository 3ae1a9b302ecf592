/* SPDX-License-Identifier: MIT */
/*
 * A storm of short lives. On "go", COUNT processes, AT_ONCE at a time, live
 * 1 to 5 ms each; PERMILLE of them exec one of the programs that follow, in
 * turn, which do the same. Then one line tells what that was:
 *   forked, executed   exact numbers
 *   children_us        CPU of all of them, as wait4 gave it
 *   own_ns             CPU of this process since "go"
 *
 * load_storm COUNT AT_ONCE PERMILLE [TINY...]
 */
#include "load.h"
#include <signal.h>

#define AT_ONCE_MAX 64

/* Load i uses the CPU for a tenth of its life: a storm of processes, not of CPU load. */
static uint64_t life_us(int i)
{
	return 1000 + i % 9 * 500;
}

static void live(int i, char **tiny, int n_tiny, int permille)
{
	char life[32];

	if (n_tiny && i % 1000 < permille) {
		snprintf(life, sizeof(life), "%lu", life_us(i));
		execl(tiny[i % n_tiny], tiny[i % n_tiny], life, NULL);
		_exit(127);
	}
	spin_ns(life_us(i) * 100);
	sleep_ns(life_us(i) * 900);
	_exit(0);
}

int main(int argc, char **argv)
{
	uint64_t begin, used_us = 0, executed = 0;
	int count, at_once, permille, status;
	pid_t child[AT_ONCE_MAX];
	struct rusage usage;
	char line[256];

	if (argc < 4)
		errx(2, "usage: load_storm COUNT AT_ONCE PERMILLE [TINY...]");
	die_with_parent();
	count = atoi(argv[1]);
	at_once = atoi(argv[2]);
	permille = atoi(argv[3]);
	if (at_once < 1 || at_once > AT_ONCE_MAX || count < at_once)
		errx(2, "AT_ONCE: 1 .. %d and no more than COUNT", AT_ONCE_MAX);
	hear(line, sizeof(line));
	begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (int i = 0; i < count + at_once; i++) {
		if (i >= at_once) {
			if (wait4(child[i % at_once], &status, 0, &usage) < 0 || status)
				errx(1, "child %d: status %d", i - at_once, status);
			used_us += rusage_us(&usage);
		}
		if (i >= count)
			continue;
		executed += argc > 4 && i % 1000 < permille;
		child[i % at_once] = fork();
		if (child[i % at_once] < 0)
			err(1, "fork");
		if (child[i % at_once] == 0)
			live(i, argv + 4, argc - 4, permille);
	}
	snprintf(line, sizeof(line),
		 "{\"forked\": %d, \"executed\": %lu, \"children_us\": %lu, \"own_ns\": %lu}\n",
		 count, executed, used_us, clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin);
	say(line);
	hear(line, sizeof(line));
	return 0;
}
