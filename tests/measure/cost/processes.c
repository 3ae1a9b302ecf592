/* SPDX-License-Identifier: MIT */
/*
 * Many processes that do next to nothing: each has one of a few dozen
 * command names, and one in twenty wakes up every second. They are there
 * when a line is printed, and ends with the standard input.
 *
 * processes COUNT
 */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT_MAX 20000
#define NAMES 50
#define SLEEPERS_PER_WAKER 20

static void live(int number, pid_t parent)
{
	char name[16];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	snprintf(name, sizeof(name), "many-%02d", number % NAMES);
	prctl(PR_SET_NAME, name);
	if (number % SLEEPERS_PER_WAKER)
		for (;;)
			pause();
	/* Spread over the second. */
	usleep((useconds_t)(rand() % 1000000));
	for (;;)
		sleep(1);
}

int main(int argc, char **argv)
{
	int count = argc == 2 ? atoi(argv[1]) : 0, born = 0, status = 0;
	pid_t parent = getpid(), *children;
	char end;

	if (count < 1 || count > COUNT_MAX)
		errx(2, "usage: processes COUNT, at most %d", COUNT_MAX);
	children = calloc((size_t)count, sizeof(*children));
	if (!children)
		err(1, "calloc");
	for (; born < count; born++) {
		srand((unsigned)born);
		children[born] = fork();
		if (children[born] == 0)
			live(born, parent);
		if (children[born] < 0) {
			warn("fork of process %d", born);
			status = 1;
			break;
		}
	}
	if (status == 0) {
		puts("ready");
		fflush(stdout);
		while (read(STDIN_FILENO, &end, 1) > 0)
			;
	}
	while (born > 0)
		kill(children[--born], SIGKILL);
	while (wait(NULL) > 0)
		;
	free(children);
	return status;
}
