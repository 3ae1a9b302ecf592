/* SPDX-License-Identifier: MIT */
/*
 * Memory in known amounts, on request:
 *   grow MIB        map and touch, and keep
 *   reserve MIB     map without touching
 *   file PATH       map a file and touch all of it, and keep
 *   spike MIB MS    map, touch, hold for MS, unmap
 *   events COUNT    open and close so many event descriptors: memory of the kernel's own
 * Each is answered with "ok" when it is done. With arguments: one spike, then
 * the end.
 *
 * load_memory [MIB MS]
 */
#include "load.h"
#include <sys/eventfd.h>
#include <sys/stat.h>

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

static void map_file(const char *path)
{
	int file = open(path, O_RDWR | O_CLOEXEC);
	struct stat is;
	char *memory;

	if (file < 0 || fstat(file, &is) != 0)
		err(1, "%s", path);
	memory = need(mmap(NULL, (size_t)is.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
	memset(memory, 1, (size_t)is.st_size);
	close(file);
}

static void spike(unsigned long mib, unsigned long ms)
{
	void *memory = map_touched(mib);

	sleep_ns(ms * 1000000);
	munmap(memory, mib * MIB);
}

static void events(unsigned long count)
{
	while (count--)
		close(eventfd(0, 0));
}

int main(int argc, char **argv)
{
	char line[4200], path[4096];
	unsigned long mib, ms, count;

	die_with_parent();
	/* A huge page would extend into the next mapping and stay there after this one is unmapped. */
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
		else if (sscanf(line, "file %4095s", path) == 1)
			map_file(path);
		else if (sscanf(line, "spike %lu %lu", &mib, &ms) == 2)
			spike(mib, ms);
		else if (sscanf(line, "events %lu", &count) == 1)
			events(count);
		else
			errx(2, "what is '%s'?", line);
		say("ok\n");
	}
}
