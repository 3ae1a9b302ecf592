/* SPDX-License-Identifier: MIT */
/*
 * Polls, and a log of them by the caller's own clock.
 *
 * load_poll calls CALL     on each line "N SHORT_US LONG_US SIGNAL_US" polls N times, by
 *     turns for a short and a long time, and with SIGNAL_US interrupted so often; answers
 *     {"polls", "asked", "asked_squares", "seconds", "squares"}: what it waited for and what it
 *     took, in seconds
 * load_poll share DIR PROCESSES THREADS PERIOD_US PERCENT sleep|spin   each thread polls for
 *     this part of each period; a file of each in DIR says when, as struct wait_record
 * load_poll end THREADS    on each line "WAIT_US" has that many threads poll in a process that
 *     is killed then; answers {"polls", "asked", "seconds"}
 */
#include "load.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>

#define SECOND_NS 1000000000ULL
#define THREADS_MAX 64
#define RECORDS 100000

struct wait_record {
	uint64_t time_ns; /* CLOCK_REALTIME */
	uint64_t waited_ns;
};

static int epoll_fd, ring_fd;
static struct epoll_event events[1];

static struct timespec span(uint64_t ns)
{
	return (struct timespec){ .tv_sec = ns / SECOND_NS, .tv_nsec = ns % SECOND_NS };
}

static long by_epoll_pwait(uint64_t ns)
{
	return syscall(SYS_epoll_pwait, epoll_fd, events, 1, (int)(ns / 1000000), NULL, 0);
}

static long by_epoll_pwait2(uint64_t ns)
{
	struct timespec t = span(ns);

	return syscall(SYS_epoll_pwait2, epoll_fd, events, 1, &t, NULL, 0);
}

static long by_ppoll(uint64_t ns)
{
	struct timespec t = span(ns);

	return syscall(SYS_ppoll, NULL, 0, &t, NULL, 0);
}

static long by_pselect6(uint64_t ns)
{
	struct timespec t = span(ns);

	return syscall(SYS_pselect6, 0, NULL, NULL, NULL, &t, NULL);
}

#ifdef __x86_64__
static long by_epoll_wait(uint64_t ns)
{
	return syscall(SYS_epoll_wait, epoll_fd, events, 1, (int)(ns / 1000000));
}

static long by_poll(uint64_t ns)
{
	return syscall(SYS_poll, NULL, 0, (int)(ns / 1000000));
}

static long by_select(uint64_t ns)
{
	struct timeval t = { .tv_sec = ns / SECOND_NS, .tv_usec = ns % SECOND_NS / 1000 };

	return syscall(SYS_select, 0, NULL, NULL, NULL, &t);
}
#endif

/* Waits for a completion that never comes. */
static long by_io_uring(uint64_t ns)
{
	struct timespec t = span(ns);
	struct io_uring_getevents_arg arg = { .ts = (uintptr_t)&t };
	long status = syscall(SYS_io_uring_enter, ring_fd, 0, 1,
			      IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &arg, sizeof(arg));

	return status < 0 && errno == ETIME ? 0 : status;
}

static const struct call {
	const char *name;
	long (*wait)(uint64_t ns);
} calls[] = {
#ifdef __x86_64__
	{ "epoll_wait", by_epoll_wait },
	{ "poll", by_poll },
	{ "select", by_select },
#endif
	{ "epoll_pwait", by_epoll_pwait },
	{ "epoll_pwait2", by_epoll_pwait2 },
	{ "ppoll", by_ppoll },
	{ "pselect6", by_pselect6 },
	{ "io_uring_enter", by_io_uring },
};

static void open_all(void)
{
	struct io_uring_params params = {};

	epoll_fd = epoll_create1(0);
	ring_fd = (int)syscall(SYS_io_uring_setup, 4, &params);
}

static void interrupted(int signum)
{
	(void)signum;
}

static void interrupt_each(unsigned us)
{
	struct itimerval timer = { .it_interval = { .tv_usec = us },
				   .it_value = { .tv_usec = us } };

	signal(SIGALRM, interrupted);
	if (setitimer(ITIMER_REAL, &timer, NULL))
		err(1, "setitimer");
}

static void poll_calls(long (*wait)(uint64_t ns))
{
	unsigned count, short_us, long_us, signal_us;
	char line[256];

	for (;;) {
		double timeouts = 0, timeout_squares = 0, seconds = 0, squares = 0;

		hear(line, sizeof(line));
		if (sscanf(line, "%u %u %u %u", &count, &short_us, &long_us, &signal_us) != 4)
			errx(2, "what is '%s'?", line);
		interrupt_each(signal_us);
		for (unsigned i = 0; i < count; i++) {
			uint64_t ns = (i % 2 ? long_us : short_us) * 1000ULL;
			uint64_t begin = clock_ns(CLOCK_MONOTONIC);
			long status = wait(ns);
			double waited_s = (clock_ns(CLOCK_MONOTONIC) - begin) / 1e9;

			if (signal_us ? status != -1 || errno != EINTR : status != 0)
				err(1, "poll %u: %ld", i, status);
			timeouts += ns / 1e9;
			timeout_squares += ns / 1e9 * (ns / 1e9);
			seconds += waited_s;
			squares += waited_s * waited_s;
		}
		interrupt_each(0);
		sprintf(line,
			"{\"polls\": %u, \"asked\": %.9f, \"asked_squares\": %.12f, "
			"\"seconds\": %.9f, \"squares\": %.12f}\n",
			count, timeouts, timeout_squares, seconds, squares);
		say(line);
	}
}

/* Written by the threads that wait at the same time. */
static const char *log_dir;
static uint64_t period_ns, wait_ns;
static bool spins;

/* The time is written last: a record without a time is incomplete. */
static void log_wait(struct wait_record *at, uint64_t waited_ns)
{
	at->waited_ns = waited_ns;
	__atomic_store_n(&at->time_ns, clock_ns(CLOCK_REALTIME), __ATOMIC_RELEASE);
}

static void work_until(uint64_t end)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!spins && now < end)
		sleep_ns(end - now);
	while (spins && clock_ns(CLOCK_MONOTONIC) < end)
		spin_a_little();
}

static void *share_time(void *unused)
{
	struct wait_record *log = thread_log_open(log_dir, RECORDS * sizeof(*log));
	uint64_t waited = 0;

	for (unsigned i = 0; i + 1 < RECORDS; i += 2) {
		uint64_t begin = clock_ns(CLOCK_MONOTONIC);

		log_wait(&log[i], waited);
		by_epoll_pwait2(wait_ns);
		waited += clock_ns(CLOCK_MONOTONIC) - begin;
		log_wait(&log[i + 1], waited);
		work_until(begin + period_ns);
	}
	return unused;
}

static void start(int threads, void *(*what)(void *))
{
	pthread_t thread;

	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread, NULL, what, NULL))
			err(1, "pthread_create");
}

static void share(int processes, int threads)
{
	char line[16];

	for (int i = 0; i < processes; i++) {
		if (fork() == 0) {
			die_with_parent();
			if (spins && nice(19) == -1)
				err(1, "nice");
			start(threads, share_time);
			for (;;)
				pause();
		}
	}
	hear(line, sizeof(line));
}

static void *wait_for_end(void *unused)
{
	by_epoll_pwait2(3600 * SECOND_NS);
	errx(1, "nobody has killed me");
	return unused;
}

static void end(int threads)
{
	char line[256];

	for (;;) {
		uint64_t wait, begin = clock_ns(CLOCK_MONOTONIC);
		pid_t child;

		wait = strtoul(hear(line, sizeof(line)), NULL, 10) * 1000;
		begin = clock_ns(CLOCK_MONOTONIC);
		child = fork();
		if (child == 0) {
			die_with_parent();
			start(threads, wait_for_end);
			for (;;)
				pause();
		}
		sleep_ns(wait);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		sprintf(line, "{\"polls\": %d, \"asked\": %.9f, \"seconds\": %.9f}\n", threads,
			wait / 1e9, (clock_ns(CLOCK_MONOTONIC) - begin) / 1e9);
		say(line);
	}
}

int main(int argc, char **argv)
{
	die_with_parent();
	open_all();
	for (size_t i = 0; argc == 3 && i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(argv[1], "calls") && !strcmp(argv[2], calls[i].name))
			poll_calls(calls[i].wait);
	if (argc == 8 && !strcmp(argv[1], "share")) {
		log_dir = argv[2];
		period_ns = strtoul(argv[5], NULL, 10) * 1000;
		wait_ns = period_ns / 100 * strtoul(argv[6], NULL, 10);
		spins = !strcmp(argv[7], "spin");
		share(atoi(argv[3]), atoi(argv[4]));
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "end"))
		end(atoi(argv[2]));
	errx(2,
	     "usage: load_poll calls CALL | share DIR PROCESSES THREADS PERIOD_US PERCENT sleep|spin"
	     " | end THREADS");
}
