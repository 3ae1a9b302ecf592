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
#include "util/lock.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define SAMPLE_NS (NS_PER_S / 5)
#define WAIT_NS NS_PER_S /* until the first sample, at most */
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

static void finish_sample(struct run_statistics *runs, uint64_t now_ns)
{
	double elapsed_s = (double)(now_ns - runs->began_ns) / (double)NS_PER_S;

	lock_acquire(&runs->lock);
	for (size_t i = 0; i < runs->count; i++) {
		struct program_runs *run = &runs->run[i];
		double count = (double)(run->count - run->marked_count);
		double time_ns = (double)(run->time_ns - run->marked_time_ns);

		run->rate = count / elapsed_s;
		if (count > 0)
			run->mean_s = time_ns / count / (double)NS_PER_S;
	}
	lock_release(&runs->lock);
	__atomic_store_n(&runs->sampled_ns, now_ns, __ATOMIC_RELAXED);
}

static double random_fraction(struct run_statistics *runs)
{
	return erand48(runs->seed);
}

static uint64_t limit_ns(uint64_t ns, double limit_s)
{
	return limit_s * (double)NS_PER_S < (double)ns ? (uint64_t)(limit_s * (double)NS_PER_S)
						       : ns;
}

/* Starts a sample. false: that is not permitted. */
static bool begin_sample(struct run_statistics *runs, uint64_t now_ns)
{
	runs->has_others = read_statistics(runs) != 0;
	runs->own = runs->has_others ? -1 : bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (!runs->has_others && runs->own < 0)
		return false;
	mark_sample(runs);
	runs->began_ns = now_ns;
	return true;
}

/* false: another user had the statistics on before, and has switched them off by now. */
static bool end_sample(struct run_statistics *runs, uint64_t now_ns)
{
	bool counted = read_statistics(runs) || !runs->has_others;

	if (counted)
		finish_sample(runs, now_ns);
	if (runs->own >= 0)
		close(runs->own);
	runs->own = -1;
	runs->began_ns = 0;
	/* A run in progress is counted after the switch. Without this call the next sample would
	 * take that for another user's statistics. */
	read_statistics(runs);
	return counted;
}

void run_statistics_init(struct run_statistics *ret_runs, uint64_t now_ns)
{
	*ret_runs = (struct run_statistics){ .lock = PTHREAD_MUTEX_INITIALIZER, .own = -1 };
	if (getrandom(ret_runs->seed, sizeof(ret_runs->seed), GRND_NONBLOCK) < 0)
		ret_runs->seed[0] = (unsigned short)now_ns;
}

static uint64_t next_sample_ns(struct run_statistics *runs, uint64_t now_ns)
{
	return now_ns + (uint64_t)((double)PERIOD_NS * (0.5 + random_fraction(runs)));
}

uint64_t run_statistics_step(struct run_statistics *runs, double interval_s, uint64_t now_ns)
{
	uint64_t length_ns = limit_ns(SAMPLE_NS, interval_s / 4);

	if (!runs->due_ns) {
		read_statistics(runs);
		runs->due_ns = now_ns + (uint64_t)((double)limit_ns(WAIT_NS, interval_s / 2) *
						   random_fraction(runs));
	}
	if (now_ns < runs->due_ns)
		return runs->due_ns;
	if (!runs->began_ns && begin_sample(runs, now_ns))
		runs->due_ns = now_ns + length_ns;
	else if (!runs->began_ns || end_sample(runs, now_ns))
		runs->due_ns = next_sample_ns(runs, now_ns);
	else
		runs->due_ns = now_ns + limit_ns(WAIT_NS, interval_s);
	return runs->due_ns;
}

bool run_statistics_sample(struct run_statistics *runs, unsigned us)
{
	read_statistics(runs);
	if (!begin_sample(runs, clock_ns()))
		return false;
	lock_assert_none("sampling run statistics");
	usleep(us);
	return end_sample(runs, clock_ns());
}

struct program_runs run_statistics_of(struct run_statistics *runs, size_t i)
{
	struct program_runs of;

	lock_acquire(&runs->lock);
	of = runs->run[i];
	lock_release(&runs->lock);
	return of;
}

bool run_statistics_is_recent(const struct run_statistics *runs)
{
	uint64_t sampled_ns = __atomic_load_n(&runs->sampled_ns, __ATOMIC_RELAXED);

	return sampled_ns && clock_ns() - sampled_ns < STALE_NS;
}

void run_statistics_done(struct run_statistics *runs)
{
	if (runs->began_ns && runs->own >= 0)
		close(runs->own);
	free(runs->run);
	*runs = (struct run_statistics){ .own = -1 };
}
