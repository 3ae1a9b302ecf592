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
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK 4096

static const char *file;

/* Starts like usual functions, with an instruction that the kernel need not single-step. */
__attribute__((noinline, used, optimize("O0"))) static void called(void)
{
}

static void make_calls(long count)
{
	for (long i = 0; i < count; i++)
		called();
}

/* Starts with an instruction that the kernel has to single-step. */
#ifdef __x86_64__
__attribute__((naked, noinline, used)) static void single_stepped(void)
{
	__asm__("mov %eax, %eax\n\tret");
}
#else
__attribute__((noinline, used, optimize("O0"))) static void single_stepped(void)
{
}
#endif

static void make_single_steps(long count)
{
	for (long i = 0; i < count; i++)
		single_stepped();
}

static void make_signals(long count)
{
	signal(SIGUSR1, SIG_IGN);
	for (long i = 0; i < count; i++)
		kill(getpid(), SIGUSR1);
}

/* With something to read, so that none waits. */
static void make_polls(long count)
{
	int ends[2];

	if (pipe(ends) || write(ends[1], "", 1) != 1)
		err(1, "pipe");
	for (long i = 0; i < count; i++)
		if (poll(&(struct pollfd){ .fd = ends[0], .events = POLLIN }, 1, -1) != 1)
			err(1, "poll");
	close(ends[0]);
	close(ends[1]);
}

/* A page fault, with a page that is allocated for it and freed again. */
static void make_faults(long count)
{
	char *page = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		err(1, "mmap");
	for (long i = 0; i < count; i++) {
		*(volatile char *)page = 1;
		if (madvise(page, BLOCK, MADV_DONTNEED))
			err(1, "madvise");
	}
	munmap(page, BLOCK);
}

/* From the page cache. */
static void make_cached_reads(long count)
{
	static char block[BLOCK];
	int fd = open(file, O_RDONLY);

	if (fd < 0)
		err(1, "%s", file);
	for (long i = 0; i < count; i++)
		if (pread(fd, block, BLOCK, 0) != BLOCK)
			err(1, "%s", file);
	close(fd);
}

static bool make(const char *kind, long count)
{
	static const struct {
		const char *name;
		void (*make)(long count);
	} own[] = { { "call", make_calls },     { "single step", make_single_steps },
		    { "signal", make_signals }, { "poll", make_polls },
		    { "fault", make_faults },   { "cached read", make_cached_reads } };

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (!strcmp(kind, own[i].name)) {
			own[i].make(count);
			return true;
		}
	return make_event(kind, count, file);
}

int main(int argc, char **argv)
{
	uint64_t begin_ns;
	long count;

	if (argc == 2 && !strcmp(argv[1], EVENT_NOTHING))
		_exit(0);
	count = argc == 4 || argc == 5 ? atol(argv[2]) : 0;
	if (count < 2)
		errx(2, "usage: event KIND COUNT CPU [FILE]");
	file = argv[4];
	stay_on(atoi(argv[3]));
	begin_ns = all_cpu_ns();
	if (!make(argv[1], count))
		errx(2, "no such kind: %s", argv[1]);
	printf("%.1f\n", (double)(all_cpu_ns() - begin_ns) / (double)count);
	return 0;
}
