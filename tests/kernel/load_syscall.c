/* SPDX-License-Identifier: MIT */
/*
 * Makes known numbers of known system calls on request. Line "CALLS UNKNOWN": getppid so many times,
 * read of a descriptor that is not open twice as many times, nanosleep of 1 ms a hundredth; and as many
 * calls as UNKNOWN says that no kernel has, each of another number. The answer has how long the sleeps
 * took, by the clock around them. Line "sleep MS": it sleeps in several calls in turns for so long. The
 * answer has how long in each.
 */
#include "load.h"

#include <inttypes.h>
#include <linux/futex.h>
#include <poll.h>

static unsigned long long slept_ns(int count)
{
	uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	struct timespec ms = { .tv_nsec = 1000000 };

	for (int i = 0; i < count; i++)
		syscall(SYS_nanosleep, &ms, NULL);
	return clock_ns(CLOCK_MONOTONIC) - begin;
}

static void sleep_in(uint64_t *nanosleep_ns, uint64_t *futex_ns, uint64_t *poll_ns)
{
	struct timespec ms5 = { .tv_nsec = 5000000 }, ms3 = { .tv_nsec = 3000000 };
	uint64_t begin = clock_ns(CLOCK_MONOTONIC), slept, waited;
	int word = 0;

	syscall(SYS_nanosleep, &ms5, NULL);
	slept = clock_ns(CLOCK_MONOTONIC);
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &ms3, NULL, 0);
	waited = clock_ns(CLOCK_MONOTONIC);
	syscall(SYS_ppoll, NULL, 0, &ms3, NULL, 0);
	*nanosleep_ns += slept - begin;
	*futex_ns += waited - slept;
	*poll_ns += clock_ns(CLOCK_MONOTONIC) - waited;
}

static void sleep_for(int ms)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + ms * 1000000ULL;
	uint64_t nanosleep_ns = 0, futex_ns = 0, poll_ns = 0;

	while (clock_ns(CLOCK_MONOTONIC) < end)
		sleep_in(&nanosleep_ns, &futex_ns, &poll_ns);
	printf("{\"nanosleep\": %" PRIu64 ", \"futex\": %" PRIu64 ", \"ppoll\": %" PRIu64 "}\n",
	       nanosleep_ns, futex_ns, poll_ns);
	fflush(stdout);
}

int main(void)
{
	char line[64], none;
	int calls, unknown, ms;

	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "sleep %d", &ms) == 1) {
			sleep_for(ms);
			continue;
		}
		if (sscanf(line, "%d %d", &calls, &unknown) != 2)
			return 1;
		for (int i = 0; i < unknown; i++)
			syscall(100000 + i);
		for (int i = 0; i < calls; i++)
			syscall(SYS_getppid);
		for (int i = 0; i < 2 * calls; i++)
			syscall(SYS_read, -1, &none, 1);
		printf("{\"slept_ns\": %llu}\n", slept_ns(calls / 100));
		fflush(stdout);
	}
	return 0;
}
