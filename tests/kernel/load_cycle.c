/* SPDX-License-Identifier: MIT */
/*
 * Works and sleeps by the clock: of each period of PERIOD us it works for the first WORK us, until
 * its input ends.
 *
 * load_cycle PERIOD WORK
 */
#include "load.h"

#include <poll.h>

static void sleep_until(uint64_t moment)
{
	struct timespec t = { .tv_sec = moment / 1000000000, .tv_nsec = moment % 1000000000 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

int main(int argc, char **argv)
{
	struct pollfd input = { .events = POLLIN };
	uint64_t period, work, begin = clock_ns(CLOCK_MONOTONIC);

	if (argc != 3)
		errx(2, "usage: load_cycle PERIOD WORK");
	die_with_parent();
	period = strtoul(argv[1], NULL, 10) * 1000;
	work = strtoul(argv[2], NULL, 10) * 1000;
	while (poll(&input, 1, 0) == 0) {
		while (clock_ns(CLOCK_MONOTONIC) < begin + work)
			spin_a_little();
		/* Periods that were missed are left out. */
		do
			begin += period;
		while (begin < clock_ns(CLOCK_MONOTONIC));
		sleep_until(begin);
	}
	return 0;
}
