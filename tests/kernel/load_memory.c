/* SPDX-License-Identifier: MIT */
/*
 * Memory in known amounts, on request:
 *   grow MIB        map and touch, and keep
 *   reserve MIB     map without touching
 *   spike MIB MS    map, touch, hold for MS, unmap
 * Each is answered with "ok" when it is done. With arguments: one spike, then
 * the end.
 *
 * load_memory [MIB MS]
 */
#include "load.h"

static void *map(unsigned long mib)
{
	return need(
		mmap(NULL, mib * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static void *map_touched(unsigned long mib)
{
	void *memory = map(mib);

	memset(memory, 1, mib * MIB);
	return memory;
}

static void spike(unsigned long mib, unsigned long ms)
{
	void *memory = map_touched(mib);

	sleep_ns(ms * 1000000);
	munmap(memory, mib * MIB);
}

int main(int argc, char **argv)
{
	unsigned long mib, ms;
	char line[128];

	die_with_parent();
	/* A huge page would reach into the mapping beside, and stay there when this one goes. */
	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
		err(1, "prctl");
	if (argc > 2) {
		spike(atoi(argv[1]), atoi(argv[2]));
		return 0;
	}
	for (;;) {
		hear(line, sizeof(line));
		if (sscanf(line, "grow %lu", &mib) == 1)
			map_touched(mib);
		else if (sscanf(line, "reserve %lu", &mib) == 1)
			map(mib);
		else if (sscanf(line, "spike %lu %lu", &mib, &ms) == 2)
			spike(mib, ms);
		else
			errx(2, "what is '%s'?", line);
		say("ok\n");
	}
}
