/* SPDX-License-Identifier: MIT */
/*
 * A program that runs without privileges. This program is also that one: by the name that it is
 * started with, it reports its rights, crashes or hangs.
 */
#include "tests/unit/testing.h"

#include "plugin/helper/confined_program.h"
#include "plugin/util/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

extern char **environ;

/* --- the confined program --- */

static void report_status(FILE *to)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];

	while (status && fgets(line, sizeof(line), status))
		if (!strncmp(line, "Cap", 3) || !strncmp(line, "NoNewPrivs", 10) ||
		    !strncmp(line, "Uid", 3) || !strncmp(line, "Gid", 3) ||
		    !strncmp(line, "Groups", 6))
			fputs(line, to);
	if (status)
		fclose(status);
}

static int report(void)
{
	FILE *to = fdopen(dup(0), "w");
	struct rlimit cpu, files;

	if (!to)
		return 1;
	getrlimit(RLIMIT_CPU, &cpu);
	getrlimit(RLIMIT_FSIZE, &files);
	report_status(to);
	fprintf(to, "environment %d cpu %d size %d fork-to-root %d\n", environ[0] != NULL,
		(int)cpu.rlim_cur, (int)files.rlim_cur, setuid(0));
	for (int fd = 0; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) >= 0 && fd != fileno(to))
			fprintf(to, "fd %d\n", fd);
	fclose(to);
	return 3;
}

/* --- the test --- */

static int run(const char *name, unsigned wait_ms, int *ret_status, char *said, size_t size)
{
	int program = open("/proc/self/exe", O_PATH | O_CLOEXEC), ends[2], status;
	ssize_t got;

	if (program < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		abort();
	status = confined_run(program, name, (int[]){ ends[1], 2 }, 2, 7, wait_ms, ret_status);
	close(ends[1]);
	got = recv(ends[0], said, size - 1, MSG_WAITALL);
	said[got > 0 ? got : 0] = '\0';
	close(ends[0]);
	close(program);
	return status;
}

static void test_report(void)
{
	static const char *const of_all[] = { "CapInh:\t0000000000000000",
					      "CapPrm:\t0000000000000000",
					      "CapEff:\t0000000000000000",
					      "CapAmb:\t0000000000000000",
					      "NoNewPrivs:\t1",
					      "environment 0 cpu 7 size 0",
					      "fd 0\nfd 1\n" };
	char said[4096];
	int status = 0;

	CASE("what it has");
	CHECK_INT(run("report", 10000, &status, said, sizeof(said)), 0);
	CHECK_INT(WIFEXITED(status), 1);
	CHECK_INT(WEXITSTATUS(status), 3);
	for (size_t i = 0; i < COUNT_OF(of_all); i++)
		CHECK_HAS(said, of_all[i]);
	CHECK_INT(strstr(said, "fd 2\n") == NULL, 1);
	if (geteuid() != 0)
		return;
	CHECK_HAS(said, "Uid:\t65534\t65534\t65534\t65534");
	CHECK_HAS(said, "Gid:\t65534\t65534\t65534\t65534");
	CHECK_HAS(said, "Groups:\t \n");
	CHECK_HAS(said, "fork-to-root -1");
}

static void test_ends(void)
{
	uint64_t begin_ns = clock_ns();
	char said[64];
	int status = 0;

	CASE("it crashes");
	CHECK_INT(run("crash", 10000, &status, said, sizeof(said)), 0);
	CHECK_INT(WIFSIGNALED(status), 1);
	CHECK_INT(WTERMSIG(status), SIGTRAP);
	CASE("it hangs");
	CHECK_INT(run("hang", 100, &status, said, sizeof(said)), -ETIME);
	CHECK_INT(WIFSIGNALED(status), 1);
	CHECK_INT(WTERMSIG(status), SIGKILL);
	CASE("it is stopped");
	CHECK_INT(run("stop", 100, &status, said, sizeof(said)), -ETIME);
	CHECK_INT((clock_ns() - begin_ns) / NS_PER_S < 5, 1);
	CASE("nothing is left of it");
	CHECK_INT(waitpid(-1, &status, WNOHANG), -1);
}

static void test_no_program(void)
{
	int fd = open("/", O_PATH | O_CLOEXEC), status = 0;

	CASE("no program");
	CHECK_INT(confined_run(fd, "none", (int[]){ 2 }, 1, 1, 1000, &status), 0);
	CHECK_INT(WEXITSTATUS(status), CONFINED_NOT_STARTED);
	close(fd);
}

int main(int count, char **arguments)
{
	(void)count;
	if (strcmp(arguments[0], "report") == 0)
		return report();
	if (strcmp(arguments[0], "crash") == 0)
		return raise(SIGTRAP);
	if (strcmp(arguments[0], "hang") == 0)
		return pause();
	if (strcmp(arguments[0], "stop") == 0)
		return raise(SIGSTOP);
	test_report();
	test_ends();
	test_no_program();
	return testing_end();
}
