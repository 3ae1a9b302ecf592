/* SPDX-License-Identifier: MIT */
/*
 * Processes in cgroups of their own, on request:
 *   enter PATH         the program itself enters this cgroup
 *   fork N             N children, one after the other, that end at once
 *   into PATH N        N children, likewise, that are cloned into this cgroup
 *   come PATH BEGIN N  N cgroups below this one, called docker-ID.scope with the numbers from BEGIN on for
 *                      ids, each with a process in it that has entered it
 *   go                 these end, and their cgroups are removed
 * Each is answered with "ok" when it is done.
 *
 * load_group
 */
#include "load.h"
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/stat.h>

#define PROCESSES_MAX 2000

static struct {
	pid_t pid;
	char path[640];
} come[PROCESSES_MAX];
static unsigned come_count;

static void enter(const char *path)
{
	char procs[700];
	int fd;

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	fd = open(procs, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		err(1, "%s", procs);
	close(fd);
}

static void reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0)
		if (errno != EINTR)
			err(1, "waitpid");
}

static void fork_one(void)
{
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid == 0)
		_exit(0);
	reap(pid);
}

static void clone_into(const char *path)
{
	struct clone_args args = { .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD };
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pid_t pid;

	args.cgroup = (uint64_t)fd;
	pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (fd < 0 || pid < 0)
		err(1, "clone3 into %s", path);
	if (pid == 0)
		_exit(0);
	reap(pid);
	close(fd);
}

static void come_one(const char *parent, unsigned number)
{
	char *path = come[come_count].path;
	int ready[2];
	pid_t pid;
	char c;

	snprintf(path, sizeof(come->path), "%s/docker-%08x%056x.scope", parent, number, 0);
	if (mkdir(path, 0755) || pipe(ready))
		err(1, "%s", path);
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (pid == 0) {
		die_with_parent();
		enter(path);
		close(ready[0]);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	/* End of file: the child is in the cgroup. */
	if (read(ready[0], &c, 1) != 0)
		err(1, "a child");
	close(ready[0]);
	come[come_count++].pid = pid;
}

static void go(void)
{
	for (unsigned i = 0; i < come_count; i++)
		kill(come[i].pid, SIGKILL);
	for (unsigned i = 0; i < come_count; i++) {
		reap(come[i].pid);
		while (rmdir(come[i].path))
			if (errno != EBUSY)
				err(1, "%s", come[i].path);
	}
	come_count = 0;
}

static void obey(const char *line)
{
	unsigned begin, n;
	char path[512];

	if (sscanf(line, "enter %511s", path) == 1)
		enter(path);
	else if (sscanf(line, "fork %u", &n) == 1)
		while (n--)
			fork_one();
	else if (sscanf(line, "into %511s %u", path, &n) == 2)
		while (n--)
			clone_into(path);
	else if (sscanf(line, "come %511s %u %u", path, &begin, &n) == 3)
		for (unsigned i = 0; i < n && i < PROCESSES_MAX; i++)
			come_one(path, begin + i);
	else if (!strcmp(line, "go"))
		go();
	else
		errx(2, "what is '%s'?", line);
	say("ok\n");
}

int main(void)
{
	char line[1024];

	die_with_parent();
	for (;;)
		obey(hear(line, sizeof(line)));
}
