/* SPDX-License-Identifier: MIT */
/*
 * Makes one kind of event over and over on one CPU and prints what one of them
 * cost: nanoseconds of CPU time of this process and its children. Linked
 * statically, so that an exec is an exec and not a linker's work.
 *
 * event switch|syscall|message|fork|exec COUNT CPU
 */
#include <arpa/inet.h>
#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOTHING "nothing" /* what the exec'ed program is to do */

static int ping[2], pong[2];

static void pass(int from, int to)
{
	char token;

	if (read(from, &token, 1) != 1 || write(to, &token, 1) != 1)
		err(1, "pipe");
}

static void *answer(void *count)
{
	for (long i = 0; i < *(long *)count; i++)
		pass(ping[0], pong[1]);
	return NULL;
}

/* Two threads of one process, so that no address space is switched. */
static void switches(long count)
{
	long rounds = count / 2;
	pthread_t thread;
	char token = 0;

	if (pipe(ping) || pipe(pong) || pthread_create(&thread, NULL, answer, &rounds))
		err(1, "ping-pong");
	if (write(ping[1], &token, 1) != 1)
		err(1, "pipe");
	for (long i = 1; i < rounds; i++)
		pass(pong[0], ping[1]);
	pthread_join(thread, NULL);
}

static void syscalls(long count)
{
	for (long i = 0; i < count; i++)
		syscall(SYS_getppid);
}

/* Both ends of a connection over TCP. */
static void connect_ends(int *ret_client, int *ret_server)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr *any = (struct sockaddr *)&address;
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	*ret_client = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, any, size) || listen(listener, 1) || getsockname(listener, any, &size) ||
	    connect(*ret_client, any, size))
		err(1, "connection");
	*ret_server = accept(listener, NULL, NULL);
}

/* Sent, arrived and received by one thread, so that nobody is woken up. */
static void messages(long count)
{
	char text[32] = "";
	int client, server;

	connect_ends(&client, &server);
	for (long i = 0; i < count; i++) {
		int from = i % 2 ? server : client, to = i % 2 ? client : server;

		if (send(from, text, sizeof(text), 0) != sizeof(text) ||
		    recv(to, text, sizeof(text), 0) != sizeof(text))
			err(1, "message");
	}
}

static void children(long count, char **exec_argv)
{
	for (long i = 0; i < count; i++) {
		pid_t child = fork();
		int status;

		if (child < 0)
			err(1, "fork");
		if (child == 0) {
			if (exec_argv)
				execv(exec_argv[0], exec_argv);
			_exit(exec_argv != NULL);
		}
		if (waitpid(child, &status, 0) != child || status)
			errx(1, "a child failed");
	}
}

static uint64_t cpu_ns(int whose)
{
	struct rusage usage;

	getrusage(whose, &usage);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

static uint64_t all_cpu_ns(void)
{
	return cpu_ns(RUSAGE_SELF) + cpu_ns(RUSAGE_CHILDREN);
}

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "CPU %d", cpu);
}

static int make(const char *kind, long count, char *self)
{
	char nothing[] = NOTHING;

	if (!strcmp(kind, "switch"))
		switches(count);
	else if (!strcmp(kind, "syscall"))
		syscalls(count);
	else if (!strcmp(kind, "message"))
		messages(count);
	else if (!strcmp(kind, "fork"))
		children(count, NULL);
	else if (!strcmp(kind, "exec"))
		children(count, (char *[]){ self, nothing, NULL });
	else
		return -1;
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t begin_ns;
	long count;

	if (argc == 2 && !strcmp(argv[1], NOTHING))
		_exit(0);
	count = argc == 4 ? atol(argv[2]) : 0;
	if (count < 2)
		errx(2, "usage: event switch|syscall|message|fork|exec COUNT CPU");
	stay_on(atoi(argv[3]));
	begin_ns = all_cpu_ns();
	if (make(argv[1], count, argv[0]))
		errx(2, "no such kind: %s", argv[1]);
	printf("%.1f\n", (double)(all_cpu_ns() - begin_ns) / (double)count);
	return 0;
}
