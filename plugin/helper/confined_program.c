/* SPDX-License-Identifier: MIT */
/*
 * Runs a program that reads hostile files: as nobody, without capabilities and without a way to get
 * any.
 */
#include "confined_program.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534
#define DESCRIPTORS_MAX 16 /* including the dynamic linker's */

static void limit(int resource, rlim_t soft, rlim_t hard)
{
	struct rlimit both = { soft, hard };

	setrlimit((enum __rlimit_resource)resource, &both);
}

/* Raw system calls: the C library's functions of these names would signal all threads, and a forked
 * process has none of them. */
static void become_nobody(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	/* Fails unless root, and the user then stays the same. */
	syscall(SYS_setgroups, 0, NULL);
	syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY);
	syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY);
	syscall(SYS_capset, &header, none);
}

/* Gives the program descriptors 0 to count - 1. All are first copied above these numbers, as one of
 * them may have the number that another is to get. */
static int dup_descriptors(int *program, const int *descriptors, size_t count)
{
	int copies[DESCRIPTORS_MAX];

	for (size_t i = 0; i < count; i++) {
		copies[i] = fcntl(descriptors[i], F_DUPFD_CLOEXEC, (int)count);
		if (copies[i] < 0)
			return -errno;
	}
	*program = fcntl(*program, F_DUPFD_CLOEXEC, (int)count);
	if (*program < 0)
		return -errno;
	for (size_t i = 0; i < count; i++)
		if (dup2(copies[i], (int)i) < 0)
			return -errno;
	return syscall(SYS_close_range, (unsigned)count, ~0U, CLOSE_RANGE_CLOEXEC) ? -errno : 0;
}

static void exec_confined(int program, const char *name, const int *descriptors, size_t count,
			  unsigned cpu_s)
{
	char *arguments[] = { (char *)name, NULL }, *environment[] = { NULL };

	if (dup_descriptors(&program, descriptors, count))
		_exit(CONFINED_NOT_STARTED);
	limit(RLIMIT_CORE, 0, 0);
	/* The hard limit sends SIGKILL, which does not say why; SIGXCPU comes first. */
	limit(RLIMIT_CPU, cpu_s, cpu_s + 1);
	limit(RLIMIT_FSIZE, 0, 0);
	limit(RLIMIT_NOFILE, DESCRIPTORS_MAX, DESCRIPTORS_MAX);
	become_nobody();
	/* The kernel clears it when credentials change, so it is set last. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	syscall(SYS_execveat, program, "", arguments, environment, AT_EMPTY_PATH);
	_exit(CONFINED_NOT_STARTED);
}

int confined_run(int program, const char *name, const int *descriptors, size_t count,
		 unsigned cpu_s, unsigned wait_ms, int *ret_status)
{
	struct pollfd ended = { .events = POLLIN };
	int status = 0, got;
	pid_t pid;

	if (count > DESCRIPTORS_MAX / 2)
		return -EINVAL;
	pid = fork();
	if (pid == 0)
		exec_confined(program, name, descriptors, count, cpu_s);
	if (pid < 0)
		return -errno;
	ended.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	do
		got = poll(&ended, 1, (int)wait_ms);
	while (got < 0 && errno == EINTR);
	if (ended.fd < 0 || got <= 0) {
		kill(pid, SIGKILL);
		status = -ETIME;
	}
	while (waitpid(pid, ret_status, 0) < 0 && errno == EINTR)
		;
	close(ended.fd);
	return status;
}
