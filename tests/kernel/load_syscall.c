/* SPDX-License-Identifier: MIT */
/*
 * Makes known numbers of known system calls on request. Line "CALLS UNKNOWN": getppid so many times,
 * read of a descriptor that is not open twice as many times, nanosleep of 1 ms a hundredth; and as many
 * calls as UNKNOWN says that no kernel has, each of another number. The answer has how long the sleeps
 * took, by the clock around them.
 */
#include "load.h"

static unsigned long long slept_ns(int count)
{
	uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	struct timespec ms = { .tv_nsec = 1000000 };

	for (int i = 0; i < count; i++)
		syscall(SYS_nanosleep, &ms, NULL);
	return clock_ns(CLOCK_MONOTONIC) - begin;
}

int main(void)
{
	char line[64], none;
	int calls, unknown;

	while (fgets(line, sizeof(line), stdin)) {
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
