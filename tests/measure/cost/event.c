/* SPDX-License-Identifier: MIT */
/*
 * Makes one kind of event over and over on one CPU and prints what one of them
 * cost: nanoseconds of CPU time of this process and its children. Linked
 * statically, so that an exec is an exec and not a linker's work.
 *
 * event KIND COUNT CPU [FILE]
 */
#include "events.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	uint64_t begin_ns;
	long count;

	if (argc == 2 && !strcmp(argv[1], EVENT_NOTHING))
		_exit(0);
	count = argc == 4 || argc == 5 ? atol(argv[2]) : 0;
	if (count < 2)
		errx(2, "usage: event KIND COUNT CPU [FILE]");
	stay_on(atoi(argv[3]));
	begin_ns = all_cpu_ns();
	if (!make_event(argv[1], count, argv[4]))
		errx(2, "no such kind: %s", argv[1]);
	printf("%.1f\n", (double)(all_cpu_ns() - begin_ns) / (double)count);
	return 0;
}
