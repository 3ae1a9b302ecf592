/* SPDX-License-Identifier: MIT */
/*
 * Threads that are blocked for known times in known calls and functions.
 *
 * load_offcpu DIR   begins with "cycle N" (N threads that sleep, wait in a futex, read a pipe and sync a file of
 *     DIR, 40, 30, 20 and 10 ms in turn), "futex N" (N threads that wait in a futex as for a lock, 9 times
 *     for 5 ms, then for 100) "convoy N" (N threads that hand a lock to each other, each holds it for 2 ms) or
 *     "names N" (N threads that sleep for 100 ms and change their names, again and again). "sums" says how long all of them together have been off the CPU in each
 *     call, how much of that in run queues, nanoseconds, and how often. Ends with its input.
 *
 * The functions have frame pointers. That which calls the C library has none that could be found, so
 * that each way has two functions: in_NAME is the outer one.
 */
#include "load.h"

#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>

#define MS 1000000ULL
#define THREADS_MAX 1000
#define LOCKED_NS (2 * MS)

enum call {
	CALL_SLEEP,
	CALL_FUTEX,
	CALL_PIPE,
	CALL_SYNC,
	CALLS,
};

static const char *const call_names[CALLS] = { "sleep", "futex", "pipe", "sync" };
static uint64_t off_ns[CALLS], queued_ns[CALLS], count[CALLS];
static const char *directory;
static uint32_t is_next[THREADS_MAX]; /* of a convoy; 1: the next is that thread */

/* State of one thread. */
struct waiter {
	int file;
	int pipe[2];
	int bell; /* an eventfd: the pipe is to be written */
	uint32_t word;
};

/* Of a thread so far: time off the CPU, and the part of it in run queues. */
struct off {
	uint64_t all, queued;
};

static uint64_t queued_until_now(void)
{
	static _Thread_local int fd;
	unsigned long ran, queued;
	char text[100] = "";

	if (!fd)
		fd = open("/proc/thread-self/schedstat", O_RDONLY);
	if (pread(fd, text, sizeof(text) - 1, 0) < 0 || sscanf(text, "%lu %lu", &ran, &queued) != 2)
		errx(1, "schedstat: '%s'", text);
	return queued;
}

static struct off off_cpu(void)
{
	uint64_t queued = queued_until_now(), now = clock_ns(CLOCK_MONOTONIC);

	return (struct off){ now - clock_ns(CLOCK_THREAD_CPUTIME_ID), queued };
}

static void count_call(enum call call, struct off since)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	now -= clock_ns(CLOCK_THREAD_CPUTIME_ID);
	__atomic_fetch_add(&off_ns[call], now - since.all, __ATOMIC_RELAXED);
	__atomic_fetch_add(&queued_ns[call], queued_until_now() - since.queued, __ATOMIC_RELAXED);
	__atomic_fetch_add(&count[call], 1, __ATOMIC_RELAXED);
}

/* --- calls --- */

#define OWN __attribute__((noinline, noclone))
#define KEEP_FRAME __asm__ volatile("")

static OWN void call_futex(uint32_t *word, uint32_t value, uint64_t ns)
{
	struct timespec t = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, ns ? &t : NULL, NULL, 0);
	KEEP_FRAME;
}

static OWN void in_futex(struct waiter *w, uint64_t ns)
{
	struct off since = off_cpu();

	call_futex(&w->word, 0, ns);
	count_call(CALL_FUTEX, since);
}

static OWN void call_sleep(uint64_t ns)
{
	sleep_ns(ns);
	KEEP_FRAME;
}

static OWN void in_sleep(uint64_t ns)
{
	struct off since = off_cpu();

	call_sleep(ns);
	count_call(CALL_SLEEP, since);
}

static OWN void call_pipe(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		err(1, "read");
	KEEP_FRAME;
}

static OWN void in_pipe(struct waiter *w)
{
	struct off since;

	if (write(w->bell, "x", 1) != 1)
		err(1, "write");
	since = off_cpu();
	call_pipe(w->pipe[0]);
	count_call(CALL_PIPE, since);
}

static OWN void call_sync(int fd)
{
	fsync(fd);
	KEEP_FRAME;
}

static OWN void in_sync(struct waiter *w, uint64_t ns)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + ns;

	while (clock_ns(CLOCK_MONOTONIC) < end) {
		struct off since;

		if (pwrite(w->file, "x", 1, 0) != 1)
			err(1, "pwrite");
		since = off_cpu();
		call_sync(w->file);
		count_call(CALL_SYNC, since);
	}
}

/* --- threads --- */

static void wait_in_epoll(int set, int ms)
{
	struct epoll_event event;

	epoll_wait(set, &event, 1, ms);
}

/* Writes to a waiter's pipe 20 ms after the request; idle meanwhile. */
static void *ring(void *argument)
{
	struct waiter *w = argument;
	struct epoll_event event = { .events = EPOLLIN };
	int set = epoll_create1(0), none = epoll_create1(0), bell[2];
	char c;

	if (pipe(bell) || epoll_ctl(set, EPOLL_CTL_ADD, bell[0], &event))
		err(1, "pipe");
	__atomic_store_n(&w->bell, bell[1], __ATOMIC_RELEASE);
	for (;;) {
		wait_in_epoll(set, -1);
		if (read(bell[0], &c, 1) != 1)
			err(1, "read");
		wait_in_epoll(none, 20);
		if (write(w->pipe[1], "x", 1) != 1)
			err(1, "write");
	}
	return NULL;
}

static void start(void *(*function)(void *), void *argument)
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	if (pthread_create(&thread, &small, function, argument))
		err(1, "pthread_create");
}

static void *cycle(void *argument)
{
	struct waiter w = { .bell = -1 };
	char path[4096];

	(void)argument;
	snprintf(path, sizeof(path), "%s/file.%ld", directory, syscall(SYS_gettid));
	w.file = open(path, O_RDWR | O_CREAT, 0600);
	if (w.file < 0 || pipe(w.pipe))
		err(1, "%s", path);
	start(ring, &w);
	while (__atomic_load_n(&w.bell, __ATOMIC_ACQUIRE) < 0)
		sched_yield();
	for (;;) {
		in_sleep(40 * MS);
		in_futex(&w, 30 * MS);
		in_pipe(&w);
		in_sync(&w, 10 * MS);
	}
	return NULL;
}

static void *rename_often(void *argument)
{
	char name[16];

	for (unsigned i = (uint32_t *)argument - is_next;; i += THREADS_MAX) {
		snprintf(name, sizeof(name), ";\n%u\xff[%%]_[k", i);
		prctl(PR_SET_NAME, name);
		call_sleep(100 * MS);
	}
	return NULL;
}

static void *futex(void *argument)
{
	struct waiter w = {};

	(void)argument;
	for (unsigned i = 0;; i++)
		in_futex(&w, i % 10 == 9 ? 100 * MS : 5 * MS);
	return NULL;
}

/* --- a convoy --- */

static unsigned long convoy_size;

static OWN void in_convoy(uint32_t *mine)
{
	struct off since = off_cpu();

	while (!__atomic_load_n(mine, __ATOMIC_ACQUIRE))
		call_futex(mine, 0, 0);
	count_call(CALL_FUTEX, since);
	__atomic_store_n(mine, 0, __ATOMIC_RELAXED);
}

static void *convoy(void *argument)
{
	unsigned long me = (uint32_t *)argument - is_next;
	uint32_t *next = &is_next[(me + 1) % convoy_size];

	for (;;) {
		in_convoy(&is_next[me]);
		spin_ns(LOCKED_NS);
		__atomic_store_n(next, 1, __ATOMIC_RELEASE);
		syscall(SYS_futex, next, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	return NULL;
}

/* --- */

static void say_sums(void)
{
	char text[1024];
	int n = 0;

	for (int i = 0; i < CALLS; i++)
		n += snprintf(text + n, sizeof(text) - n, "%c \"%s\": [%lu, %lu, %lu]",
			      i ? ',' : '{', call_names[i],
			      __atomic_load_n(&off_ns[i], __ATOMIC_RELAXED),
			      __atomic_load_n(&queued_ns[i], __ATOMIC_RELAXED),
			      __atomic_load_n(&count[i], __ATOMIC_RELAXED));
	snprintf(text + n, sizeof(text) - n, "}\n");
	say(text);
}

static void start_all(void *(*function)(void *), unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		start(function, &is_next[i]);
}

int main(int argc, char **argv)
{
	struct pollfd input = { .events = POLLIN };
	unsigned long n;
	char line[64];

	die_with_parent();
	if (argc != 2)
		errx(2, "usage: load_offcpu DIR");
	directory = argv[1];
	for (;;) {
		poll(&input, 1,
		     -1); /* a wait for input that counts as idle, unlike a read of a pipe */
		hear(line, sizeof(line));
		n = strtoul(strchr(line, ' ') ?: "0", NULL, 10);
		if (n > THREADS_MAX)
			errx(2, "too many threads: %lu", n);
		if (!strncmp(line, "cycle ", 6)) {
			start_all(cycle, n);
		} else if (!strncmp(line, "futex ", 6)) {
			start_all(futex, n);
		} else if (!strncmp(line, "names ", 6)) {
			start_all(rename_often, n);
		} else if (!strncmp(line, "convoy ", 7)) {
			convoy_size = n;
			is_next[0] = 1;
			start_all(convoy, n);
		} else if (strcmp(line, "sums") != 0) {
			errx(2, "what is '%s'?", line);
		}
		say_sums();
	}
}
