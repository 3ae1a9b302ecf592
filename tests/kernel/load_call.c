/* SPDX-License-Identifier: MIT */
/*
 * Calls functions of its own. On each line "N" it calls called() N times and other() twice N times,
 * passes the marker load:two twice N times, and load:watched N times if anybody watches it.
 * It says {"calls", "others", "watched"}, all since the begin.
 */
#include "load.h"
#include "tests/unit/marker.h"

__attribute__((noinline, noclone)) unsigned called(unsigned n);
__attribute__((noinline, noclone)) unsigned other(unsigned n);

/* What they do is none of the compiler's business. */
unsigned called(unsigned n)
{
	asm volatile("" : "+r"(n));
	return n + 1;
}

unsigned other(unsigned n)
{
	asm volatile("" : "+r"(n));
	return n + 2;
}

MARKER_SEMAPHORE(watchers);

int main(void)
{
	unsigned long calls = 0, others = 0, watched = 0;
	unsigned sum = 0;
	char line[100];

	die_with_parent();
	for (;;) {
		unsigned long count = strtoul(hear(line, sizeof(line)), NULL, 10);

		for (unsigned long i = 0; i < count; i++) {
			sum = called(sum);
			MARKER("load", "two", 0);
			sum = other(other(sum));
			MARKER("load", "two", 0);
			if (!watchers)
				continue;
			MARKER("load", "watched", watchers);
			watched++;
		}
		calls += count;
		others += 2 * count;
		sprintf(line, "{\"calls\": %lu, \"others\": %lu, \"watched\": %lu}\n", calls,
			others, watched);
		say(line);
	}
}
