/* SPDX-License-Identifier: MIT */
/*
 * 200 functions, many_000 to many_199. On each line "N" it calls each of them N times, and says how many
 * calls that were, all since the begin.
 */
#include "load.h"

/* Hides a value from the compiler, so that calls are not optimised away. */
#define FUNCTION(number)                                                       \
	__attribute__((noinline, noclone)) unsigned many_##number(unsigned n); \
	unsigned many_##number(unsigned n)                                     \
	{                                                                      \
		asm volatile("" : "+r"(n));                                    \
		return n + 1;                                                  \
	}
#define CALL(number) sum = many_##number(sum);

#define TEN(what, tens)                                                                     \
	what(tens##0) what(tens##1) what(tens##2) what(tens##3) what(tens##4) what(tens##5) \
		what(tens##6) what(tens##7) what(tens##8) what(tens##9)
#define HUNDRED(what, hundreds) \
	TEN(what, hundreds##0)  \
	TEN(what, hundreds##1)  \
	TEN(what, hundreds##2)  \
	TEN(what, hundreds##3)  \
	TEN(what, hundreds##4)  \
	TEN(what, hundreds##5)  \
	TEN(what, hundreds##6) TEN(what, hundreds##7) TEN(what, hundreds##8) TEN(what, hundreds##9)

HUNDRED(FUNCTION, 0)
HUNDRED(FUNCTION, 1)

int main(void)
{
	unsigned long calls = 0;
	unsigned sum = 0;
	char line[100];

	die_with_parent();
	for (;;) {
		unsigned long count = strtoul(hear(line, sizeof(line)), NULL, 10);

		for (unsigned long i = 0; i < count; i++) {
			HUNDRED(CALL, 0)
			HUNDRED(CALL, 1)
		}
		calls += 200 * count;
		sprintf(line, "%lu\n", calls);
		say(line);
	}
}
