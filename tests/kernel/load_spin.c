/* SPDX-License-Identifier: MIT */
/*
 * Spinners that log what they used: THREADS threads use CPU for SECONDS, of
 * which about PERMILLE in the kernel, on CPU if one is given, and log into
 * DIR/TID four times a millisecond.
 *
 * load_spin DIR THREADS SECONDS PERMILLE [CPU]
 */
#define _GNU_SOURCE
#include "load.h"
#include <pthread.h>
#include <signal.h>

#define STEP_NS 250000
#define CPU_RECORDS 1000000

struct cpu_record {
	uint64_t time_ns; /* CLOCK_REALTIME */
	uint64_t cpu_ns;
	uint64_t user_us;
	uint64_t system_us;
};

static const char *dir;
static uint64_t end_ns;
static unsigned permille;

/* The time last: a record without one is not there yet. */
static void cpu_log(struct cpu_record *at)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	at->user_us = timeval_us(usage.ru_utime);
	at->system_us = timeval_us(usage.ru_stime);
	at->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	__atomic_store_n(&at->time_ns, clock_ns(CLOCK_REALTIME), __ATOMIC_RELEASE);
}

/* Kernel time by reading zeros: long enough in the kernel to be met by its tick. */
static void spin_kernel_ns(int zero, char *buffer, size_t size, uint64_t amount)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + amount;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		if (read(zero, buffer, size) < 0)
			err(1, "/dev/zero");
}

static void *spin(void *unused)
{
	static const size_t size = 128 * 1024;
	struct cpu_record *log = thread_log_open(dir, CPU_RECORDS * sizeof(*log));
	char *buffer = malloc(size);
	int zero = open("/dev/zero", O_RDONLY);
	size_t n;

	(void)unused;
	for (n = 0; n < CPU_RECORDS && clock_ns(CLOCK_MONOTONIC) < end_ns; n++) {
		cpu_log(&log[n]);
		spin_ns(STEP_NS * (1000 - permille) / 1000);
		if (permille)
			spin_kernel_ns(zero, buffer, size, STEP_NS * permille / 1000);
	}
	free(buffer);
	close(zero);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int threads;

	if (argc < 5)
		errx(2, "usage: load_spin DIR THREADS SECONDS PERMILLE [CPU]");
	die_with_parent();
	dir = argv[1];
	threads = atoi(argv[2]);
	end_ns = clock_ns(CLOCK_MONOTONIC) + atoi(argv[3]) * 1000000000ULL;
	permille = atoi(argv[4]);
	if (argc > 5)
		stay_on_cpu(atoi(argv[5]));
	for (int i = 1; i < threads; i++)
		if (pthread_create(&thread, NULL, spin, NULL))
			errx(1, "pthread_create");
	spin(NULL);
	return 0;
}
