/* SPDX-License-Identifier: MIT */
/*
 * MaxOverhead. A probe is on trial for a second after it is attached; after that the mean of its
 * last readings counts. So a probe that is far too expensive is off at once, and a short peak has
 * no effect. If several probes exceed their common limit, those on trial are switched off before
 * the others, the most expensive first; otherwise the probes would replace each other in turn.
 * Before a probe is switched off, the time of its runs is sampled, where that is permitted.
 *
 * A probe that was switched off is tried again after a minute. The pause doubles each time, up to
 * an hour, and is halved for each such time that the probe was on. It lasts at least three of the
 * probe's intervals: by then collectd has dropped its series, and computes no rate over the pause.
 * A function with a limit of its own is switched off by itself.
 */
#include "overhead.h"

#include "pause.h"
#include "util/clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EARLY_NS (NS_PER_S / 5) /* calls are not exactly a second apart */
#define TRIAL_NS (NS_PER_S - EARLY_NS)
#define WAIT_MIN_NS (60 * NS_PER_S)
#define WAIT_MAX_NS (3600 * NS_PER_S)
#define WAIT_INTERVALS 3
#define LIMITED_NAME_MAX (2 * CONFIG_NAME_MAX + 32)

/* --- a probe or a function --- */

static void mark_limited(struct cost_mark *ret_mark, const struct limited *limited, uint64_t now_ns)
{
	if (limited->function == OVERHEAD_WHOLE)
		cost_mark(ret_mark, limited->probe, now_ns);
	else
		cost_mark_function(ret_mark, limited->probe, (uint32_t)limited->function, now_ns);
}

static bool cost_of_limited(struct cost_mark *mark, const struct probe *probe, int function,
			    uint64_t now_ns, struct cost *ret_cost)
{
	if (function == OVERHEAD_WHOLE)
		return cost_since(mark, probe, now_ns, ret_cost);
	return cost_since_function(mark, probe, (uint32_t)function, now_ns, ret_cost);
}

static void pause_limited(struct probe *probe, int function)
{
	if (function == OVERHEAD_WHOLE)
		probe_pause(probe);
	else
		probe_pause_function(probe, (uint32_t)function);
}

static int resume_limited(struct probe *probe, int function, struct error *error)
{
	if (function == OVERHEAD_WHOLE)
		return probe_resume(probe, error);
	return probe_resume_function(probe, (uint32_t)function, error);
}

/* --- the list --- */

static void add_limited(struct overhead *overhead, struct probe *probe, int function,
			double own_percent, uint64_t now_ns)
{
	struct limited *limited = &overhead->item[overhead->count++];

	limited->probe = probe;
	limited->function = function;
	limited->own_percent = own_percent;
	limited->since_ns = now_ns;
	mark_limited(&limited->mark, limited, now_ns);
	limited->whole_mark = limited->mark;
}

static void add_limited_functions(struct overhead *overhead, struct probe *probe, uint64_t now_ns)
{
	for (uint32_t i = 0; probe->functions && i < probe->functions->count; i++) {
		double percent = functions_limit(probe->functions, i);

		if (percent > 0)
			add_limited(overhead, probe, (int)i, percent, now_ns);
	}
}

static size_t count_possible(const struct probe *probes, size_t probe_count)
{
	size_t count = probe_count;

	for (size_t i = 0; i < probe_count; i++)
		count += probes[i].functions ? probes[i].functions->count : 0;
	return count;
}

int overhead_open(struct overhead *overhead, struct probe *probes, size_t probe_count,
		  double percent, overhead_notify *notify, uint64_t now_ns)
{
	*overhead = (struct overhead){
		.percent = percent,
		.notify = notify,
		.since = cost_of_limited,
		.sample = cost_sample,
		.pause = pause_limited,
		.resume = resume_limited,
		.item = calloc(count_possible(probes, probe_count) + 1, sizeof(*overhead->item)),
	};
	if (!overhead->item)
		return -ENOMEM;
	for (size_t i = 0; i < probe_count; i++) {
		struct probe *probe = &probes[i];

		if (!probe->object.bpf || probe->on_threshold)
			continue;
		add_limited_functions(overhead, probe, now_ns);
		if (probe->is_off_by_default || probe->block->max_overhead > 0)
			add_limited(overhead, probe, OVERHEAD_WHOLE, probe->block->max_overhead,
				    now_ns);
	}
	return 0;
}

/* --- cost --- */

static double mean_percent(const struct limited *limited)
{
	double sum = 0;

	for (size_t i = 0; i < OVERHEAD_READINGS; i++)
		sum += cost_percent(&limited->costs[i], limited->probe);
	return sum > 0 ? sum / OVERHEAD_READINGS : 0; /* also where it is NAN */
}

static bool is_function_of(const struct limited *limited, const struct probe *probe)
{
	return limited->probe == probe && limited->function != OVERHEAD_WHOLE;
}

/* ns per second of the functions with a limit of their own, since the cost of the whole probe was
 * taken last. */
static double functions_ns(const struct overhead *overhead, const struct probe *probe,
			   uint64_t now_ns)
{
	double ns = 0;

	for (size_t i = 0; i < overhead->count; i++) {
		struct limited *limited = &overhead->item[i];
		struct cost cost;

		if (is_function_of(limited, probe) &&
		    overhead->since(&limited->whole_mark, probe, limited->function, now_ns, &cost))
			ns += cost.other_ns;
	}
	return ns;
}

static struct cost measure_cost(const struct overhead *overhead, struct limited *limited,
				uint64_t now_ns)
{
	struct cost cost;
	bool known;

	limited->measured_ns = now_ns;
	limited->sampled = false;
	known = overhead->since(&limited->mark, limited->probe, limited->function, now_ns, &cost);
	if (limited->function == OVERHEAD_WHOLE)
		cost.other_ns -= functions_ns(overhead, limited->probe, now_ns);
	return known ? cost : (struct cost){ 0 };
}

static bool interval_has_passed(const struct limited *limited, uint64_t now_ns)
{
	double interval_ns = limited->probe->interval_s * (double)NS_PER_S;

	return (double)(now_ns - limited->measured_ns + EARLY_NS) >= interval_ns;
}

static void measure_if_due(const struct overhead *overhead, struct limited *limited,
			   uint64_t now_ns)
{
	if (limited->state == LIMITED_TRIED && now_ns - limited->since_ns >= TRIAL_NS) {
		limited->costs[0] = measure_cost(overhead, limited, now_ns);
		for (size_t i = 1; i < OVERHEAD_READINGS; i++)
			limited->costs[i] = limited->costs[0];
		limited->state = LIMITED_MEASURED;
	} else if (limited->state == LIMITED_ON && interval_has_passed(limited, now_ns)) {
		limited->costs[limited->next++ % OVERHEAD_READINGS] =
			measure_cost(overhead, limited, now_ns);
	}
}

/* --- switching off and on --- */

/* "1 minute", "20 seconds". */
static void name_time(char *text, size_t size, uint64_t ns)
{
	uint64_t s = ns / NS_PER_S;
	bool minutes = s % 60 == 0;
	unsigned long long count = minutes ? s / 60 : s;

	snprintf(text, size, "%llu %s%s", count, minutes ? "minute" : "second",
		 count == 1 ? "" : "s");
}

/* How long it is off this time: the longer it was on, the shorter. */
static uint64_t next_wait_ns(const struct limited *limited, uint64_t now_ns)
{
	uint64_t least = (uint64_t)(WAIT_INTERVALS * limited->probe->interval_s) * NS_PER_S;
	uint64_t wait_ns = limited->wait_ns, on_ns = now_ns - limited->since_ns;

	least = least > WAIT_MIN_NS ? least : WAIT_MIN_NS;
	if (on_ns < wait_ns)
		wait_ns *= 2;
	for (; wait_ns > least && on_ns >= wait_ns; wait_ns /= 2)
		on_ns -= wait_ns;
	if (wait_ns > WAIT_MAX_NS)
		wait_ns = WAIT_MAX_NS;
	return wait_ns > least ? wait_ns : least;
}

static void stay_off(struct limited *limited, uint64_t now_ns)
{
	limited->wait_ns = next_wait_ns(limited, now_ns);
	limited->since_ns = now_ns;
	limited->state = LIMITED_OFF;
}

/* "probe functions", "function malloc of the probe functions" */
static void name_limited(char *text, size_t size, const struct limited *limited)
{
	const struct probe *probe = limited->probe;

	if (limited->function == OVERHEAD_WHOLE)
		snprintf(text, size, "probe %s", probe->name);
	else
		snprintf(text, size, "function %s of the probe %s",
			 probe->functions->blocks[limited->function].name, probe->name);
}

/* Logs it, and sends a notification unless one of the same kind is the last that was sent: a trial
 * that fails is no news to the receiver. */
static void report_off(const struct overhead *overhead, struct limited *limited, const char *why)
{
	struct error text;
	char time[32], name[LIMITED_NAME_MAX];

	name_limited(name, sizeof(name), limited);
	name_time(time, sizeof(time), limited->wait_ns);
	error_set(&text, 0, "%s is off for %s: %.800s", name, time, why);
	message(limited->reported_off ? LOG_NOTICE : LOG_WARNING, "%s", text.text);
	if (!limited->reported_off)
		overhead->notify(HEALTH_WARNING, limited->probe->name, text.text);
	limited->reported_off = true;
}

static void switch_off(const struct overhead *overhead, struct limited *limited, uint64_t now_ns,
		       const char *why)
{
	overhead->pause(limited->probe, limited->function);
	stay_off(limited, now_ns);
	report_off(overhead, limited, why);
}

/* Reports nothing: the trial may fail within a second. */
static void switch_on(struct overhead *overhead, struct limited *limited, uint64_t now_ns)
{
	struct error error = { "" }, why;
	int status;

	overhead_set_busy(overhead, limited->probe);
	status = overhead->resume(limited->probe, limited->function, &error);
	overhead_set_busy(overhead, NULL);
	if (status) {
		error_set(&why, 0, "cannot switch it on again: %.900s", error.text);
		limited->since_ns = now_ns; /* it was never on */
		stay_off(limited, now_ns);
		report_off(overhead, limited, why.text);
		return;
	}
	mark_limited(&limited->mark, limited, now_ns);
	limited->since_ns = now_ns;
	limited->state = LIMITED_TRIED;
}

static void keep_on(const struct overhead *overhead, struct limited *limited)
{
	char name[LIMITED_NAME_MAX];
	struct error text;

	limited->state = LIMITED_ON;
	if (!limited->reported_off)
		return;
	limited->reported_off = false;
	name_limited(name, sizeof(name), limited);
	error_set(&text, 0, "%s is on again: it costs %.3g %% of the CPUs", name,
		  mean_percent(limited));
	message(LOG_NOTICE, "%s", text.text);
	overhead->notify(HEALTH_OKAY, limited->probe->name, text.text);
}

/* --- limits --- */

static bool is_measured(const struct limited *limited)
{
	return limited->state == LIMITED_MEASURED || limited->state == LIMITED_ON;
}

/* Samples the time of runs, once for each measured cost. false: that was done before. */
static bool sample_runs(const struct overhead *overhead, struct limited *limited)
{
	if (limited->sampled)
		return false;
	limited->sampled = true;
	overhead->sample(limited->probe);
	return true;
}

/* Is what is to be switched off being attached? Then a later call does it. */
static bool is_busy(struct overhead *overhead, const struct limited *limited)
{
	overhead->wants_busy |= limited->probe == overhead->busy;
	return limited->probe == overhead->busy;
}

void overhead_set_busy(struct overhead *overhead, const struct probe *probe)
{
	overhead->busy = probe;
	overhead->wants_busy = false;
}

static bool exceeds_own_limit(const struct limited *limited)
{
	return is_measured(limited) && limited->own_percent > 0 &&
	       mean_percent(limited) > limited->own_percent;
}

static void check_own_limit(struct overhead *overhead, struct limited *limited, uint64_t now_ns)
{
	struct error why;

	if (exceeds_own_limit(limited))
		sample_runs(overhead, limited);
	if (!exceeds_own_limit(limited) || is_busy(overhead, limited))
		return;
	error_set(&why, 0,
		  "it costs %.3g %% of the CPUs, more than MaxOverhead %g in its %s block; raise "
		  "that, or %s",
		  mean_percent(limited), limited->own_percent,
		  limited->function == OVERHEAD_WHOLE ? "Probe" : "Function",
		  limited->function == OVERHEAD_WHOLE ? "switch it off by Enable false"
						      : "leave the block out");
	switch_off(overhead, limited, now_ns, why.text);
}

static bool is_under_common_limit(const struct limited *limited)
{
	return is_measured(limited) && limited->own_percent == 0;
}

static double common_percent(const struct overhead *overhead)
{
	double sum = 0;

	for (size_t i = 0; i < overhead->count; i++)
		if (is_under_common_limit(&overhead->item[i]))
			sum += mean_percent(&overhead->item[i]);
	return sum;
}

/* Is `one` switched off before `other`? */
static bool goes_first(const struct limited *one, const struct limited *other)
{
	if (!other || one->state != other->state)
		return !other || one->state == LIMITED_MEASURED;
	return mean_percent(one) > mean_percent(other);
}

static struct limited *first_to_go(const struct overhead *overhead)
{
	struct limited *first = NULL;

	for (size_t i = 0; i < overhead->count; i++)
		if (is_under_common_limit(&overhead->item[i]) &&
		    goes_first(&overhead->item[i], first))
			first = &overhead->item[i];
	return first;
}

static void check_common_limit(struct overhead *overhead, uint64_t now_ns)
{
	struct limited *limited;
	double sum;

	while ((limited = first_to_go(overhead)) &&
	       (sum = common_percent(overhead)) > overhead->percent) {
		struct error why;

		if (sample_runs(overhead, limited))
			continue;
		if (is_busy(overhead, limited))
			return;
		error_set(
			&why, 0,
			"it costs %.3g %% of the CPUs, and all probes that are off by default %.3g %%, "
			"more than MaxOverhead %g; raise that, give it one of its own, or switch it "
			"off by Enable false",
			mean_percent(limited), sum, overhead->percent);
		switch_off(overhead, limited, now_ns, why.text);
	}
}

/* Is it a function of a probe that is off as a whole? Then it waits for the probe. */
static bool is_off_with_probe(const struct overhead *overhead, const struct limited *limited)
{
	for (size_t i = 0; i < overhead->count; i++)
		if (is_function_of(limited, overhead->item[i].probe) &&
		    overhead->item[i].function == OVERHEAD_WHOLE)
			return overhead->item[i].state == LIMITED_OFF;
	return false;
}

void overhead_step(struct overhead *overhead, uint64_t now_ns)
{
	for (size_t i = 0; i < overhead->count; i++) {
		struct limited *limited = &overhead->item[i];

		if (is_off_with_probe(overhead, limited))
			continue;
		measure_if_due(overhead, limited, now_ns);
		check_own_limit(overhead, limited, now_ns);
	}
	check_common_limit(overhead, now_ns);
	for (size_t i = 0; i < overhead->count && !overhead->wants_busy; i++)
		if (overhead->item[i].state == LIMITED_MEASURED)
			keep_on(overhead, &overhead->item[i]);
}

void overhead_resume(struct overhead *overhead, uint64_t now_ns)
{
	for (size_t i = 0; i < overhead->count; i++) {
		struct limited *limited = &overhead->item[i];

		if (limited->state == LIMITED_OFF &&
		    now_ns - limited->since_ns >= limited->wait_ns &&
		    !is_off_with_probe(overhead, limited))
			switch_on(overhead, limited, now_ns);
	}
}

void overhead_done(struct overhead *overhead)
{
	free(overhead->item);
	*overhead = (struct overhead){ 0 };
}
