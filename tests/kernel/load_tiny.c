/* SPDX-License-Identifier: MIT */
/*
 * The program that the storm execs: lives LIFE_US, a tenth of it on a CPU.
 *
 * load_tiny LIFE_US
 */
#include "load.h"

int main(int argc, char **argv)
{
	uint64_t life_us = argc > 1 ? atoi(argv[1]) : 1000;

	spin_ns(life_us * 100);
	sleep_ns(life_us * 900);
	return 0;
}
