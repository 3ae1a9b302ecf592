/* SPDX-License-Identifier: MIT */
/*
 * Processes that do the odd things of a process's life, on request:
 *   fork              a child that waits; answered with its pid
 *   zombie            a child that ends and is not reaped
 *   reap              reap all that ended
 *   threads N         N further threads that wait
 *   use MS            use this much CPU
 *   name TEXT         prctl(PR_SET_NAME) of the main thread
 *   exec PATH         become another program (which hears the same words)
 *   thread-exec PATH  the same, called by a thread that is not the leader
 *   leader-exit       the leader ends, another thread goes on hearing
 * Each is answered with "ok", an exec by the new program, where not said
 * otherwise. Arguments are only there to be seen on the command line.
 *
 * load_task [MARK...]
 */
#define _GNU_SOURCE
#include "load.h"
#include <pthread.h>
#include <signal.h>

static char path[4096];

static void *wait_forever(void *unused)
{
	while (pause())
		;
	return unused;
}

static void start(void *(*run)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL))
		errx(1, "pthread_create");
}

static void *become(void *unused)
{
	(void)unused;
	/* The new program answers: its argument says that a word is outstanding. */
	execl(path, path, "answer", NULL);
	err(1, "%s", path);
}

static pid_t child(int ends)
{
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid == 0) {
		die_with_parent();
		if (ends)
			_exit(0);
		wait_forever(NULL);
	}
	return pid;
}

static void obey(const char *line)
{
	unsigned long n;

	if (strcmp(line, "zombie") == 0)
		child(1);
	else if (strcmp(line, "reap") == 0)
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	else if (sscanf(line, "threads %lu", &n) == 1)
		while (n--)
			start(wait_forever);
	else if (sscanf(line, "use %lu", &n) == 1)
		spin_ns(n * 1000000);
	else if (strncmp(line, "name ", 5) == 0)
		prctl(PR_SET_NAME, line + 5);
	else
		errx(2, "what is '%s'?", line);
	say("ok\n");
}

static void *serve(void *unused)
{
	char line[4200];

	(void)unused;
	for (;;) {
		hear(line, sizeof(line));
		if (strcmp(line, "fork") == 0) {
			snprintf(line, sizeof(line), "%d\n", child(0));
			say(line);
		} else if (sscanf(line, "exec %4095s", path) == 1) {
			become(NULL);
		} else if (sscanf(line, "thread-exec %4095s", path) == 1) {
			start(become);
			wait_forever(NULL);
		} else if (strcmp(line, "leader-exit") == 0) {
			start(serve);
			say("ok\n");
			pthread_exit(NULL);
		} else {
			obey(line);
		}
	}
}

int main(int argc, char **argv)
{
	die_with_parent();
	if (argc > 1 && strcmp(argv[1], "answer") == 0)
		say("ok\n");
	serve(NULL);
}
