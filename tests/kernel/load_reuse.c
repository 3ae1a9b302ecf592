/* SPDX-License-Identifier: MIT */
/*
 * Runs PROGRAM as a child with the pid PID, which must be free.
 *
 * load_reuse PID PROGRAM [ARGUMENT...]
 */
#include "load.h"
#include <linux/sched.h>
#include <signal.h>

int main(int argc, char **argv)
{
	struct clone_args args = { .exit_signal = SIGCHLD, .set_tid_size = 1 };
	pid_t pid;
	int status;

	if (argc < 3)
		errx(2, "usage: load_reuse PID PROGRAM [ARGUMENT...]");
	die_with_parent();
	pid = atoi(argv[1]);
	args.set_tid = (uintptr_t)&pid;
	switch (syscall(SYS_clone3, &args, sizeof(args))) {
	case -1:
		err(1, "clone3 with pid %d", pid);
	case 0:
		die_with_parent();
		execv(argv[2], argv + 2);
		err(1, "%s", argv[2]);
	}
	if (waitpid(pid, &status, 0) < 0)
		err(1, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
