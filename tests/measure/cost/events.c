/* SPDX-License-Identifier: MIT */
/*
 * The kinds of events.
 */
#include "events.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BLOCK 4096
#define COMPETITORS 4

static int ping[2], pong[2];
static const char *event_file;

static void pass(int from, int to)
{
	char token;

	if (read(from, &token, 1) != 1 || write(to, &token, 1) != 1)
		err(1, "pipe");
}

static void *respond(void *count)
{
	for (long i = 0; i < *(long *)count; i++)
		pass(ping[0], pong[1]);
	return NULL;
}

static void close_pipe(const int *ends)
{
	close(ends[0]);
	close(ends[1]);
}

/* Two threads of one process, so that no address space is switched. */
static void make_switches(long count)
{
	long rounds = count / 2;
	pthread_t thread;
	char token = 0;

	if (pipe(ping) || pipe(pong) || pthread_create(&thread, NULL, respond, &rounds))
		err(1, "ping-pong");
	if (write(ping[1], &token, 1) != 1)
		err(1, "pipe");
	for (long i = 1; i < rounds; i++)
		pass(pong[0], ping[1]);
	pthread_join(thread, NULL);
	close_pipe(ping);
	close_pipe(pong);
}

static uint64_t thread_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

/* Works from 10 to 640 us at a time, and sleeps a little. */
static void *compete(void *count)
{
	struct timespec little = { .tv_nsec = 50000 };

	for (long i = 0; i < *(long *)count; i++) {
		uint64_t end_ns = thread_ns() + (uint64_t)(i * 37 % 64 + 1) * 10000;

		while (thread_ns() < end_ns)
			;
		nanosleep(&little, NULL);
	}
	return NULL;
}

/* Threads that compete for one CPU and wait for different times. */
static void make_waits(long count)
{
	pthread_t threads[COMPETITORS];
	long each = count / COMPETITORS;

	for (int i = 0; i < COMPETITORS; i++)
		if (pthread_create(&threads[i], NULL, compete, &each))
			err(1, "thread");
	for (int i = 0; i < COMPETITORS; i++)
		pthread_join(threads[i], NULL);
}

static void make_syscalls(long count)
{
	for (long i = 0; i < count; i++)
		syscall(SYS_getppid);
}

static struct sockaddr *loopback(struct sockaddr_in *to)
{
	*to = (struct sockaddr_in){ .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	return (struct sockaddr *)to;
}

/* A socket bound to a free port; its address is in *ret_address. */
static int bound(int type, struct sockaddr_in *ret_address)
{
	struct sockaddr *any = loopback(ret_address);
	socklen_t size = sizeof(*ret_address);
	int fd = socket(AF_INET, type, 0);

	if (fd < 0 || bind(fd, any, size) || getsockname(fd, any, &size))
		err(1, "socket");
	return fd;
}

static int listening(struct sockaddr_in *ret_address)
{
	int fd = bound(SOCK_STREAM, ret_address);

	if (listen(fd, 16))
		err(1, "listen");
	return fd;
}

/* Both ends of a TCP connection. */
static void connect_ends(int listener, const struct sockaddr_in *address, int *ret_client,
			 int *ret_server)
{
	*ret_client = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(*ret_client, (const struct sockaddr *)address, sizeof(*address)))
		err(1, "connect");
	*ret_server = accept(listener, NULL, NULL);
	if (*ret_server < 0)
		err(1, "accept");
}

/* One thread sends and receives, so that there is no wakeup. */
static void make_messages(long count)
{
	struct sockaddr_in address;
	int client, server, listener = listening(&address);
	char text[32] = "";

	connect_ends(listener, &address, &client, &server);
	for (long i = 0; i < count; i++) {
		int from = i % 2 ? server : client, to = i % 2 ? client : server;

		if (send(from, text, sizeof(text), 0) != sizeof(text) ||
		    recv(to, text, sizeof(text), 0) != sizeof(text))
			err(1, "message");
	}
	close(client);
	close(server);
	close(listener);
}

/* Each is a software interrupt. */
static void make_datagrams(long count)
{
	struct sockaddr_in address;
	int fd = bound(SOCK_DGRAM, &address);
	char text[32] = "";

	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		err(1, "connect");
	for (long i = 0; i < count; i++)
		if (send(fd, text, sizeof(text), 0) != sizeof(text) ||
		    recv(fd, text, sizeof(text), 0) != sizeof(text))
			err(1, "datagram");
	close(fd);
}

/* Connect, accept, close. The server closes first, so that no client port stays in TIME_WAIT. */
static void make_connections(long count)
{
	struct sockaddr_in address;
	int client, server, listener = listening(&address);

	for (long i = 0; i < count; i++) {
		connect_ends(listener, &address, &client, &server);
		close(server);
		close(client);
	}
	close(listener);
}

static void make_opens(long count)
{
	for (long i = 0; i < count; i++) {
		int fd = open(event_file, O_RDONLY);

		if (fd < 0)
			err(1, "%s", event_file);
		close(fd);
	}
}

struct block_file {
	int fd;
	off_t blocks;
	void *block;
};

static void block_file_open(struct block_file *ret, int flags)
{
	ret->fd = open(event_file, O_RDONLY | flags);
	ret->blocks = lseek(ret->fd, 0, SEEK_END) / BLOCK;
	ret->block = aligned_alloc(BLOCK, BLOCK);
	if (ret->fd < 0 || ret->blocks < 1 || !ret->block)
		err(1, "%s", event_file);
}

static void block_file_close(struct block_file *block_file)
{
	free(block_file->block);
	close(block_file->fd);
}

/* Scattered offsets, so that there is no read-ahead. */
static off_t offset_of(const struct block_file *block_file, long i)
{
	return i * 1021 % block_file->blocks * BLOCK;
}

static void read_block(const struct block_file *block_file, long i)
{
	if (pread(block_file->fd, block_file->block, BLOCK, offset_of(block_file, i)) != BLOCK)
		err(1, "%s", event_file);
}

/* Reads from disk, bypassing the page cache. */
static void make_reads(long count)
{
	struct block_file block_file;

	block_file_open(&block_file, O_DIRECT);
	for (long i = 0; i < count; i++)
		read_block(&block_file, i);
	block_file_close(&block_file);
}

/* Reads into the page cache, from which the pages were dropped before. */
static void make_pages(long count)
{
	struct block_file block_file;

	block_file_open(&block_file, 0);
	/* First all of them: what was written may be in the cache as groups of pages, which one of their
	 * blocks does not drop. */
	if (posix_fadvise(block_file.fd, 0, 0, POSIX_FADV_DONTNEED) ||
	    posix_fadvise(block_file.fd, 0, 0, POSIX_FADV_RANDOM))
		err(1, "%s", event_file);
	for (long i = 0; i < count; i++) {
		posix_fadvise(block_file.fd, offset_of(&block_file, i), BLOCK, POSIX_FADV_DONTNEED);
		read_block(&block_file, i);
	}
	block_file_close(&block_file);
}

static void make_children(long count, char **exec_argv)
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

static void make_forks(long count)
{
	make_children(count, NULL);
}

static void make_execs(long count)
{
	char nothing[] = EVENT_NOTHING;

	make_children(count, (char *[]){ program_invocation_name, nothing, NULL });
}

static const struct {
	const char *name;
	void (*make)(long count);
	bool of_file;
} kinds[] = {
	{ "switch", make_switches, false },    { "wait", make_waits, false },
	{ "syscall", make_syscalls, false },   { "message", make_messages, false },
	{ "datagram", make_datagrams, false }, { "connection", make_connections, false },
	{ "open", make_opens, true },          { "read", make_reads, true },
	{ "page", make_pages, true },          { "fork", make_forks, false },
	{ "exec", make_execs, false },
};

bool make_event(const char *kind, long count, const char *file)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kind, kinds[i].name) && (file || !kinds[i].of_file)) {
			event_file = file;
			kinds[i].make(count);
			return true;
		}
	return false;
}

static uint64_t cpu_ns(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

uint64_t all_cpu_ns(void)
{
	return cpu_ns(RUSAGE_SELF) + cpu_ns(RUSAGE_CHILDREN);
}

void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "CPU %d", cpu);
}
