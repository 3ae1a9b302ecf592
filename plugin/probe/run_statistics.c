/* SPDX-License-Identifier: MIT */
/*
 * How often BPF programs run and how long a run takes, from samples of the kernel's run statistics.
 *
 * While these are on, each run of any BPF program on the machine costs about 100 ns more, and
 * switching them interrupts all CPUs. So samples are short and rare. They are taken at random
 * moments, since everything else that collectd reads is read at the start of the interval. If
 * another program has switched the statistics on, its figures are read and the switch is left as it
 * is: switching needs CAP_SYS_ADMIN, reading does not.
 */
#include "run_statistics.h"

#include "config/name.h"
#include "util/clock.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define US_PER_S 1000000
#define SAMPLE_US 200000
#define WAIT_US 1000000
#define PERIOD_NS (300 * NS_PER_S)
#define STALE_NS (3 * PERIOD_NS)

static bool is_listed_run(const struct run_statistics *runs, const char *name)
{
	for (size_t i = 0; i < runs->count; i++)
		if (!strcmp(runs->run[i].name, name))
			return true;
	return false;
}

int run_statistics_add(struct run_statistics *runs, const char *name, const struct object *object)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object->bpf)
	{
		struct program_runs run = { .fd = bpf_program__fd(program) }, *grown;
		char whole[1024];

		snprintf(whole, sizeof(whole), "%s-%s", name, bpf_program__name(program));
		name_clean(run.name, sizeof(run.name), whole);
		if (run.fd < 0 || is_listed_run(runs, run.name))
			continue;
		grown = reallocarray(runs->run, runs->count + 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		runs->run = grown;
		grown[runs->count++] = run;
	}
	return 0;
}

/* Reads the kernel's counters. Returns how many runs were counted since the last call. */
static uint64_t read_statistics(struct run_statistics *runs)
{
	uint64_t before = runs->total;

	runs->total = 0;
	for (size_t i = 0; i < runs->count; i++) {
		struct program_runs *run = &runs->run[i];
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);

		if (bpf_obj_get_info_by_fd(run->fd, &info, &size) == 0) {
			run->count = info.run_cnt;
			run->time_ns = info.run_time_ns;
		}
		runs->total += run->count;
	}
	return runs->total - before;
}

static void mark_sample(struct run_statistics *runs)
{
	read_statistics(runs);
	for (size_t i = 0; i < runs->count; i++) {
		runs->run[i].marked_count = runs->run[i].count;
		runs->run[i].marked_time_ns = runs->run[i].time_ns;
	}
}

static void finish_sample(struct run_statistics *runs, double elapsed_s)
{
	for (size_t i = 0; i < runs->count; i++) {
		struct program_runs *run = &runs->run[i];
		double count = (double)(run->count - run->marked_count);
		double time_ns = (double)(run->time_ns - run->marked_time_ns);

		run->rate = count / elapsed_s;
		if (count > 0)
			run->mean_s = time_ns / count / (double)NS_PER_S;
	}
}

static double random_fraction(void)
{
	return (double)random() / ((double)RAND_MAX + 1);
}

static useconds_t limit_us(useconds_t us, double limit_s)
{
	return limit_s * US_PER_S < us ? (useconds_t)(limit_s * US_PER_S) : us;
}

/* Takes a sample of moment_us. false: another user had the statistics on before, and has switched
 * them off by now. */
static bool sample_statistics(struct run_statistics *runs, useconds_t moment_us)
{
	bool others = read_statistics(runs) != 0;
	int stats = others ? -1 : bpf_enable_stats(BPF_STATS_RUN_TIME);
	uint64_t start_ns;
	bool counted;

	if (!others && stats < 0)
		return true;
	mark_sample(runs);
	start_ns = clock_ns();
	usleep(moment_us);
	counted = read_statistics(runs) || !others;
	if (counted) {
		runs->sampled_ns = clock_ns();
		finish_sample(runs, (double)(runs->sampled_ns - start_ns) / (double)NS_PER_S);
	}
	if (stats >= 0)
		close(stats);
	/* A run in progress is counted after the switch. Without this call the next sample would
	 * take that for another user's statistics. */
	read_statistics(runs);
	return counted;
}

void run_statistics_read(struct run_statistics *runs, double interval_s)
{
	if (clock_ns() < runs->due_ns)
		return;
	usleep((useconds_t)(limit_us(WAIT_US, interval_s / 2) * random_fraction()));
	if (sample_statistics(runs, limit_us(SAMPLE_US, interval_s / 4)))
		runs->due_ns = clock_ns() + (uint64_t)(PERIOD_NS * (0.5 + random_fraction()));
}

bool run_statistics_sample(struct run_statistics *runs, unsigned us)
{
	uint64_t before_ns = runs->sampled_ns;

	read_statistics(runs);
	sample_statistics(runs, us);
	return runs->sampled_ns != before_ns;
}

bool run_statistics_is_recent(const struct run_statistics *runs)
{
	return runs->sampled_ns && clock_ns() - runs->sampled_ns < STALE_NS;
}

void run_statistics_done(struct run_statistics *runs)
{
	free(runs->run);
	*runs = (struct run_statistics){ 0 };
}
