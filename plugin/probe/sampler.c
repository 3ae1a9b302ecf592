/* SPDX-License-Identifier: MIT */
/*
 * Samplers: iterators that inspect the machine many times between two readings, at random moments,
 * and count what they see. Their cost is the CPU time of the thread that runs them, all of its work
 * included. They run less often where that is needed to stay within their budget.
 */
#include "sampler.h"

#include "config/name.h"
#include "util/clock.h"
#include "util/thread.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#define RETRY_NS (60 * NS_PER_S)  /* at least, after a failed run */
#define PAUSED_NS (NS_PER_S / 10) /* between checks whether a paused probe has resumed */

static uint64_t sampler_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void log_failure(struct sampled *s, int status, const struct error *error)
{
	if (status && !s->failing)
		message(LOG_ERR, "sampler %s: trying again once a minute at most: %.900s", s->name,
			error->text);
	else if (!status && s->failing)
		message(LOG_NOTICE, "sampler %s: works again", s->name);
	s->failing = status != 0;
}

/* What the probe's samplers before this one leave of the probe's share, at least a tenth. */
static double fraction_left(const struct sampler *sampler, const struct sampled *s)
{
	double least = s->probe_fraction / 10, left = s->probe_fraction;

	for (const struct sampled *other = sampler->item; other < s; other++)
		if (other->probe == s->probe)
			left -= other->pace.cost_ns / pace_period_ns(&other->pace);
	return left > least ? left : least;
}

/* Counts from the time when the run was due, not from when it ran: so a sampler that has to wait
 * for a CPU keeps its frequency. */
static uint64_t next_ns(struct sampler *sampler, struct sampled *s, uint64_t now_ns)
{
	bool late = (double)(now_ns - s->due_ns) > pace_period_ns(&s->pace);
	uint64_t wait_ns;

	s->pace.cpu_fraction = fraction_left(sampler, s);
	wait_ns = pace_wait_ns(&s->pace, erand48(sampler->seed));

	if (s->failing)
		return now_ns + (wait_ns > RETRY_NS ? wait_ns : RETRY_NS);
	return (late ? now_ns : s->due_ns) + wait_ns;
}

/* Its program has nothing to see now. */
static bool has_nothing_due(const struct sampled *s)
{
	return s->sample->when && !__atomic_load_n(s->sample->when, __ATOMIC_ACQUIRE);
}

static void run_program(struct sampler *sampler, struct sampled *s, uint64_t now_ns)
{
	struct error error = { "" };
	uint64_t cpu_ns, cost_ns;

	if (__atomic_load_n(&s->probe->paused, __ATOMIC_RELAXED)) {
		s->began_ns = 0; /* the next run represents no time */
		s->due_ns = now_ns + PAUSED_NS;
		return;
	}
	if (s->sample_ns)
		__atomic_store_n(s->sample_ns, s->began_ns ? now_ns - s->began_ns : 0,
				 __ATOMIC_RELAXED);
	s->began_ns = now_ns;
	if (has_nothing_due(s)) {
		s->due_ns = next_ns(sampler, s, now_ns);
		return;
	}
	log_failure(s, sampler->run(s->sample, &error), &error);
	cpu_ns = sampler->cpu_ns();
	cost_ns = cpu_ns - sampler->spent_ns;
	sampler->spent_ns = cpu_ns;
	pace_note(&s->pace, cost_ns);
	s->due_ns = next_ns(sampler, s, now_ns);
	__atomic_fetch_add(&s->runs, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&s->cpu_ns, cost_ns, __ATOMIC_RELAXED);
	__atomic_fetch_add(&s->probe->sampled_ns, cost_ns, __ATOMIC_RELAXED);
}

uint64_t sampler_step(struct sampler *sampler, uint64_t now_ns)
{
	uint64_t due_ns = UINT64_MAX;

	for (size_t i = 0; i < sampler->count; i++) {
		struct sampled *s = &sampler->item[i];

		if (s->due_ns <= now_ns)
			run_program(sampler, s, now_ns);
		due_ns = s->due_ns < due_ns ? s->due_ns : due_ns;
	}
	return due_ns;
}

bool sampler_figures(struct sampled *s, uint64_t now_ns, struct sampler_figures *ret_figures)
{
	uint64_t all_runs = __atomic_load_n(&s->runs, __ATOMIC_RELAXED);
	uint64_t all_cpu_ns = __atomic_load_n(&s->cpu_ns, __ATOMIC_RELAXED);
	double elapsed_s = (double)(now_ns - s->reported_ns) / (double)NS_PER_S;
	double runs = (double)(all_runs - s->reported_runs);
	double cpu_s = (double)(all_cpu_ns - s->reported_cpu_ns) / (double)NS_PER_S;
	bool first = s->reported_ns == 0;

	s->reported_runs = all_runs;
	s->reported_cpu_ns = all_cpu_ns;
	s->reported_ns = now_ns;
	if (first || elapsed_s <= 0)
		return false;
	*ret_figures = (struct sampler_figures){
		.hz = runs / elapsed_s,
		.mean_s = runs > 0 ? cpu_s / runs : 0,
		.percent = 100 * cpu_s / elapsed_s,
	};
	return true;
}

/* --- the thread --- */

static struct timespec time_until(uint64_t due_ns)
{
	uint64_t now_ns = clock_ns(), wait_ns = due_ns > now_ns ? due_ns - now_ns : 0;

	return (struct timespec){ .tv_sec = (time_t)(wait_ns / NS_PER_S),
				  .tv_nsec = (long)(wait_ns % NS_PER_S) };
}

static void *run_sampler(void *context)
{
	struct sampler *sampler = context;
	struct pollfd stop = { .fd = sampler->stop, .events = POLLIN };

	sampler->spent_ns = sampler->cpu_ns();
	for (;;) {
		uint64_t due_ns = sampler_step(sampler, clock_ns());
		struct timespec wait = time_until(due_ns);

		if (ppoll(&stop, 1, &wait, NULL) > 0)
			break;
	}
	return NULL;
}

static int start_sampler_thread(struct sampler *sampler)
{
	int status;

	sampler->stop = eventfd(0, EFD_CLOEXEC);
	if (sampler->stop < 0)
		return -errno;
	status = thread_start(&sampler->thread, run_sampler, sampler);
	sampler->running = status == 0;
	if (status)
		close(sampler->stop);
	return status;
}

static bool has_budget(const struct probe *probe)
{
	return probe->block->budget_percent > 0;
}

/* The part of a CPU for each of the probes without a budget of their own. */
static double even_budget(const struct probe *probes, size_t probe_count, double percent)
{
	size_t count = 0;

	for (size_t i = 0; i < probe_count; i++)
		if (probes[i].object.sample_count && !has_budget(&probes[i]))
			count++;
	return count ? percent / 100 / (double)count : 0;
}

static void add_sampler(struct sampler *sampler, struct probe *probe, const struct sample *sample,
			double cpu_fraction)
{
	const struct probe_config *block = probe->block;
	struct sampled *s = &sampler->item[sampler->count++];
	char whole[1024];

	snprintf(whole, sizeof(whole), "%s-%s", probe->name, bpf_program__name(sample->program));
	name_clean(s->name, sizeof(s->name), whole);
	s->probe = probe;
	s->sample = sample;
	s->pace.hz = block->frequency_hz > 0 ? block->frequency_hz : sample->hz;
	s->probe_fraction = has_budget(probe) ? block->budget_percent / 100 : cpu_fraction;
	s->pace.cpu_fraction = s->probe_fraction;
	s->sample_ns = object_variable(&probe->object, "sample_ns", sizeof(*s->sample_ns));
}

/* Frequency and Budget have no effect without a sampler. A probe that is off has been reported
 * before. */
static void check_sampler_options(const struct probe *probe)
{
	bool frequency, budget;

	if (!probe->object.bpf || probe->object.sample_count)
		return;
	frequency = probe->block->frequency_hz > 0;
	budget = has_budget(probe);
	if (frequency || budget)
		message(LOG_WARNING, "probe %s: ignoring %s%s%s: it has no sampler", probe->name,
			frequency ? "Frequency" : "", frequency && budget ? " and " : "",
			budget ? "Budget" : "");
}

int sampler_open(struct sampler *sampler, struct probe *probes, size_t probe_count, double percent)
{
	double cpu_fraction = even_budget(probes, probe_count, percent);
	size_t count = 0;

	*sampler = (struct sampler){ .run = object_sample, .cpu_ns = sampler_cpu_ns };
	for (size_t i = 0; i < probe_count; i++) {
		count += probes[i].object.sample_count;
		check_sampler_options(&probes[i]);
	}
	if (!count)
		return 0;
	sampler->item = calloc(count, sizeof(*sampler->item));
	if (!sampler->item)
		return -ENOMEM;
	for (size_t i = 0; i < probe_count; i++)
		for (size_t j = 0; j < probes[i].object.sample_count; j++)
			add_sampler(sampler, &probes[i], &probes[i].object.samples[j],
				    cpu_fraction);
	if (getrandom(sampler->seed, sizeof(sampler->seed), GRND_NONBLOCK) < 0)
		sampler->seed[0] = (unsigned short)clock_ns();
	return 0;
}

int sampler_start(struct sampler *sampler, struct probe *probes, size_t probe_count, double percent)
{
	int status = sampler_open(sampler, probes, probe_count, percent);

	return status == 0 && sampler->count ? start_sampler_thread(sampler) : status;
}

void sampler_stop(struct sampler *sampler)
{
	uint64_t one = 1;

	if (sampler->running) {
		if (write(sampler->stop, &one, sizeof(one)) == sizeof(one))
			pthread_join(sampler->thread, NULL);
		close(sampler->stop);
	}
	free(sampler->item);
	*sampler = (struct sampler){ 0 };
}
