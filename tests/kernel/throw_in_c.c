/* SPDX-License-Identifier: MIT */
/*
 * What load_throw has in C, built with -fexceptions: an exception of a language of its own, and a
 * function that calls back.
 */
#include <stdlib.h>
#include <unwind.h>

#define CLASS 0x544553544c414e47 /* TESTLANG */

void raise_foreign(void);
int ordered(int *numbers, int count, int (*compare)(int, int));

unsigned long foreign_dropped;

static void drop(_Unwind_Reason_Code reason, struct _Unwind_Exception *exception)
{
	(void)reason;
	foreign_dropped++;
	free(exception);
}

void raise_foreign(void)
{
	struct _Unwind_Exception *exception =
		aligned_alloc(__alignof__(*exception), sizeof(*exception));

	*exception =
		(struct _Unwind_Exception){ .exception_class = CLASS, .exception_cleanup = drop };
	_Unwind_RaiseException(exception);
	abort();
}

/* Returns the least of them, negated. */
int ordered(int *numbers, int count, int (*compare)(int, int))
{
	for (int i = 1; i < count; i++)
		for (int at = i; at > 0 && compare(numbers[at - 1], numbers[at]) > 0; at--) {
			int number = numbers[at];

			numbers[at] = numbers[at - 1];
			numbers[at - 1] = number;
		}
	return -numbers[0];
}
