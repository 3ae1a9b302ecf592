/* SPDX-License-Identifier: MIT */
/*
 * Switches and faults in known numbers, on request:
 *   sleep N               N voluntary switches
 *   contend N MS CPU      N children on one CPU use MS each
 *   touch PAGES           a minor fault each
 *   load PAGES FILE       a major fault each: FILE is out of the page cache
 * Each is answered with what its children were charged with, as wait4 gave it:
 * {"ended", "nvcsw", "nivcsw", "minflt", "majflt"}.
 *
 * load_sched
 */
#include "load.h"

static void sleep_often(unsigned long n)
{
	while (n--)
		sleep_ns(20000);
}

static void contend(unsigned long n, unsigned long ms, int cpu)
{
	for (unsigned long i = 0; i < n; i++) {
		if (fork() == 0) {
			stay_on_cpu(cpu);
			spin_ns(ms * 1000000);
			_exit(0);
		}
	}
}

static void touch(unsigned long pages)
{
	size_t size = pages * 4096;
	char *memory =
		need(mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

	madvise(memory, size, MADV_NOHUGEPAGE);
	for (unsigned long i = 0; i < pages; i++)
		memory[i * 4096] = 1;
	munmap(memory, size);
}

static void load(unsigned long pages, const char *path)
{
	int fd = open(path, O_RDONLY);
	volatile char sink;
	char *memory;

	if (fd < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		err(1, "%s", path);
	memory = need(mmap(NULL, pages * 4096, PROT_READ, MAP_SHARED, fd, 0));
	/* No read-ahead and no fault-around. */
	madvise(memory, pages * 4096, MADV_RANDOM);
	for (unsigned long i = 0; i < pages; i++)
		sink = memory[i * 4096];
	(void)sink;
	munmap(memory, pages * 4096);
	close(fd);
}

static void respond(void)
{
	struct rusage usage, sum = {};
	char line[256];
	int ended = 0;

	for (; wait4(-1, NULL, 0, &usage) > 0; ended++) {
		sum.ru_nvcsw += usage.ru_nvcsw;
		sum.ru_nivcsw += usage.ru_nivcsw;
		sum.ru_minflt += usage.ru_minflt;
		sum.ru_majflt += usage.ru_majflt;
	}
	snprintf(
		line, sizeof(line),
		"{\"ended\": %d, \"nvcsw\": %ld, \"nivcsw\": %ld, \"minflt\": %ld, \"majflt\": %ld}\n",
		ended, sum.ru_nvcsw, sum.ru_nivcsw, sum.ru_minflt, sum.ru_majflt);
	say(line);
}

int main(void)
{
	char line[4200], path[4096];
	unsigned long n, ms;
	int cpu;

	die_with_parent();
	for (;;) {
		hear(line, sizeof(line));
		if (sscanf(line, "sleep %lu", &n) == 1)
			sleep_often(n);
		else if (sscanf(line, "contend %lu %lu %d", &n, &ms, &cpu) == 3)
			contend(n, ms, cpu);
		else if (sscanf(line, "touch %lu", &n) == 1)
			touch(n);
		else if (sscanf(line, "load %lu %4095s", &n, path) == 2)
			load(n, path);
		else
			errx(2, "what is '%s'?", line);
		respond();
	}
}
