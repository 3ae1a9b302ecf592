/* SPDX-License-Identifier: MIT */
/*
 * Calls functions of its own. On each line "N" it calls called() N times and other() twice N times,
 * and says {"calls", "others"}.
 */
#include "load.h"

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

int main(void)
{
	unsigned long calls = 0, others = 0;
	unsigned sum = 0;
	char line[100];

	die_with_parent();
	for (;;) {
		unsigned long count = strtoul(hear(line, sizeof(line)), NULL, 10);

		for (unsigned long i = 0; i < count; i++) {
			sum = called(sum);
			sum = other(other(sum));
		}
		calls += count;
		others += 2 * count;
		sprintf(line, "{\"calls\": %lu, \"others\": %lu}\n", calls, others);
		say(line);
	}
}
