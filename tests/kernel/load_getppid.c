/* SPDX-License-Identifier: MIT */
/*
 * Calls getppid on request. On a line "N": so many times, and then one line {"cpu_ns", "ns"}: the CPU time
 * and the time that took.
 */
#include "load.h"

int main(void)
{
	char line[64];

	die_with_parent();
	while (fgets(line, sizeof(line), stdin)) {
		unsigned long count = strtoul(line, NULL, 10);
		uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);

		for (unsigned long i = 0; i < count; i++)
			syscall(SYS_getppid);
		cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
		printf("{\"cpu_ns\": %llu, \"ns\": %llu}\n", (unsigned long long)cpu_ns,
		       (unsigned long long)(clock_ns(CLOCK_MONOTONIC) - begin_ns));
		fflush(stdout);
	}
	return 0;
}
