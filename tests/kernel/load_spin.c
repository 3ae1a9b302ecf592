/* SPDX-License-Identifier: MIT */
/*
 * Spinners that log what they used: THREADS threads use CPU for SECONDS, of
 * which about PERMILLE in the kernel, on CPU if one is given, and log into
 * DIR/TID four times a millisecond. At the end a line of JSON: how the kernel
 * divides what they used, microseconds.
 *
 * load_spin DIR THREADS SECONDS PERMILLE [CPU]
 */
#include "load.h"
#include <pthread.h>
#include <signal.h>

#define STEP_NS 250000
#define CPU_RECORDS 1000000

struct cpu_record {
	uint64_t time_ns; /* CLOCK_REALTIME */
	uint64_t cpu_ns;
};

static const char *dir;
static uint64_t end_ns;
static unsigned permille;
static uint64_t user_us, system_us;

/* The time is written last: a record without a time is incomplete. */
static void cpu_log(struct cpu_record *at)
{
	at->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	__atomic_store_n(&at->time_ns, clock_ns(CLOCK_REALTIME), __ATOMIC_RELEASE);
}

/* Read only once, at the end of the thread: the kernel never decreases user and system time, so that each
 * read preserves fluctuations of their ratio. */
static void add_division(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	__atomic_fetch_add(&user_us, timeval_us(usage.ru_utime), __ATOMIC_RELAXED);
	__atomic_fetch_add(&system_us, timeval_us(usage.ru_stime), __ATOMIC_RELAXED);
}

/* Uses system time by reading zeros, which takes long enough to be sampled by the tick. */
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
	add_division();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t *others;
	int threads;

	if (argc < 5)
		errx(2, "usage: load_spin DIR THREADS SECONDS PERMILLE [CPU]");
	die_with_parent();
	dir = argv[1];
	threads = atoi(argv[2]);
	others = calloc(threads, sizeof(*others));
	end_ns = clock_ns(CLOCK_MONOTONIC) + atoi(argv[3]) * 1000000000ULL;
	permille = atoi(argv[4]);
	if (argc > 5)
		stay_on_cpu(atoi(argv[5]));
	for (int i = 1; i < threads; i++)
		if (pthread_create(&others[i], NULL, spin, NULL))
			errx(1, "pthread_create");
	spin(NULL);
	for (int i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	printf("{\"user_us\": %lu, \"system_us\": %lu}\n", user_us, system_us);
	return 0;
}
