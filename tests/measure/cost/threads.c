/* SPDX-License-Identifier: MIT */
/*
 * Many threads that sleep. They are there when a line is printed, and end with the standard input.
 *
 * threads COUNT
 */
#include <err.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define COUNT_MAX 100000

static void *live(void *unused)
{
	for (;;)
		pause();
	return unused;
}

int main(int argc, char **argv)
{
	int count = argc == 2 ? atoi(argv[1]) : 0;
	pthread_attr_t attributes;
	pthread_t thread;
	char end;

	if (count < 1 || count > COUNT_MAX)
		errx(2, "usage: threads COUNT, at most %d", COUNT_MAX);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
	for (int i = 0; i < count; i++)
		if (pthread_create(&thread, &attributes, live, NULL) != 0)
			errx(1, "cannot make thread %d", i);
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &end, 1) > 0)
		;
	_exit(0);
}
