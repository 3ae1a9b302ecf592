/* SPDX-License-Identifier: MIT */
/*
 * Processes that do the odd things of a process's life, on request:
 *   fork [TITLE]      a child that waits; answered with its pid; with this for its command line
 *   zombie            a child that ends and is not reaped
 *   reap              reap all that ended
 *   threads N         N further threads that wait
 *   brief N           N threads, one after the other, that have ended by the answer
 *   use MS            use this much CPU
 *   name TEXT         prctl(PR_SET_NAME) of the main thread
 *   title TEXT        this for its command line, and the first word for its name
 *   exec PATH         become another program (which hears the same words)
 *   thread-exec PATH  the same, called by a thread that is not the leader
 *   leader-exit       the leader ends, another thread goes on hearing
 * Each is answered with "ok", an exec by the new program, where not said
 * otherwise. Arguments are only there to be seen on the command line.
 *
 * load_task [MARK...]
 */
#include "load.h"
#include <pthread.h>
#include <signal.h>

static char path[4096];
static char *title_begin, *title_end; /* the address of the command line */

static void set_title(const char *title)
{
	memset(title_begin, 0, (size_t)(title_end - title_begin));
	snprintf(title_begin, (size_t)(title_end - title_begin), "%s", title);
}

static void *wait_forever(void *unused)
{
	while (pause())
		;
	return unused;
}

static pthread_t start(void *(*run)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL))
		errx(1, "pthread_create");
	return thread;
}

static void *end_at_once(void *unused)
{
	return unused;
}

static void *become(void *unused)
{
	(void)unused;
	/* The new program replies: its argument says that a reply is outstanding. */
	execl(path, path, "answer", NULL);
	err(1, "%s", path);
}

static pid_t child(int ends, const char *title)
{
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid == 0) {
		die_with_parent();
		if (ends)
			_exit(0);
		if (title)
			set_title(title);
		wait_forever(NULL);
	}
	return pid;
}

static void obey(const char *line)
{
	unsigned long n;

	if (strcmp(line, "zombie") == 0)
		child(1, NULL);
	else if (strcmp(line, "reap") == 0)
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	else if (sscanf(line, "threads %lu", &n) == 1)
		while (n--)
			start(wait_forever);
	else if (sscanf(line, "brief %lu", &n) == 1)
		while (n--)
			pthread_join(start(end_at_once), NULL);
	else if (sscanf(line, "use %lu", &n) == 1)
		spin_ns(n * 1000000);
	else if (strncmp(line, "name ", 5) == 0)
		prctl(PR_SET_NAME, line + 5);
	else if (strncmp(line, "title ", 6) == 0) {
		set_title(line + 6);
		prctl(PR_SET_NAME, line + 6);
	} else
		errx(2, "what is '%s'?", line);
	say("ok\n");
}

static void *serve(void *unused)
{
	char line[4200];

	(void)unused;
	for (;;) {
		hear(line, sizeof(line));
		if (strcmp(line, "fork") == 0 || strncmp(line, "fork ", 5) == 0) {
			snprintf(line, sizeof(line), "%d\n", child(0, line[4] ? line + 5 : NULL));
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
	title_begin = argv[0];
	title_end = argv[argc - 1] + strlen(argv[argc - 1]) + 1;
	if (argc > 1 && strcmp(argv[1], "answer") == 0)
		say("ok\n");
	serve(NULL);
}
