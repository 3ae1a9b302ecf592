/* SPDX-License-Identifier: MIT */
/*
 * What the load programs share: clocks, use of CPU for a given time, and a log from
 * which a test gets the values at any moment.
 */
#ifndef LOAD_H
#define LOAD_H

#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB (1024UL * 1024)

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static inline uint64_t timeval_us(struct timeval t)
{
	return t.tv_sec * 1000000ULL + t.tv_usec;
}

static inline uint64_t rusage_us(const struct rusage *usage)
{
	return timeval_us(usage->ru_utime) + timeval_us(usage->ru_stime);
}

/* Spins for some ten microseconds in user mode, because reading the clock adds system time. */
static inline void spin_a_little(void)
{
	for (volatile int i = 0; i < 5000; i++)
		;
}

/* Uses this much CPU of the calling thread. */
static inline void spin_ns(uint64_t amount)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + amount;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		spin_a_little();
}

static inline void sleep_ns(uint64_t amount)
{
	struct timespec t = { .tv_sec = amount / 1000000000, .tv_nsec = amount % 1000000000 };

	nanosleep(&t, NULL);
}

static inline void stay_on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "sched_setaffinity %d", cpu);
}

static inline void die_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* Reads a line from the test; the program exits at the end of input. */
static inline char *hear(char *line, size_t size)
{
	size_t n = 0;

	/* Byte by byte: a larger read could include bytes of the next line. */
	while (n < size - 1) {
		if (read(0, line + n, 1) != 1)
			exit(0);
		if (line[n] == '\n')
			break;
		n++;
	}
	line[n] = '\0';
	return line;
}

static inline void say(const char *text)
{
	size_t length = strlen(text);

	if (write(1, text, length) != (ssize_t)length)
		exit(1);
}

static inline void *need(void *mapping)
{
	if (mapping == MAP_FAILED)
		err(1, "mmap");
	return mapping;
}

/* A mapped file, so that writing a record needs no system call. */
static inline void *log_open(const char *path, size_t size, int flags)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	void *log;

	if (fd < 0 || ftruncate(fd, size))
		err(1, "%s", path);
	log = need(mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd, 0));
	close(fd);
	return log;
}

/* A log of the calling thread: DIR/TID. */
static inline void *thread_log_open(const char *dir, size_t size)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%ld", dir, syscall(SYS_gettid));
	return log_open(path, size, 0);
}

#endif
