/* SPDX-License-Identifier: MIT */
/*
 * What a probe costs the machine. The time of a run depends on the load: on a quiet machine the
 * program is not in the caches.
 */
#include "cost.h"

#include "attach/attachment_list.h"
#include "hook_cost.h"
#include "util/clock.h"

#define SAMPLE_US 100000

void cost_mark(struct cost_mark *ret_mark, const struct probe *probe, uint64_t now_ns)
{
	struct cost_mark mark = {
		.time_ns = now_ns,
		.sampled_ns = __atomic_load_n(&probe->sampled_ns, __ATOMIC_RELAXED),
	};

	/* Unreadable counters: there is nothing to compare the next mark with. */
	if (run_counters_read(&probe->run_counters, mark.runs))
		mark.time_ns = 0;
	*ret_mark = mark;
}

static double reading_ns(const struct probe *probe)
{
	if (__atomic_load_n(&probe->paused, __ATOMIC_RELAXED))
		return 0;
	return (double)__atomic_load_n(&probe->reading_ns, __ATOMIC_RELAXED) / probe->interval_s;
}

bool cost_since(struct cost_mark *mark, const struct probe *probe, uint64_t now_ns,
		struct cost *ret_cost)
{
	const struct cost_mark before = *mark;
	double elapsed_s;

	cost_mark(mark, probe, now_ns);
	if (!before.time_ns || !mark->time_ns || now_ns <= before.time_ns)
		return false;
	elapsed_s = (double)(now_ns - before.time_ns) / (double)NS_PER_S;
	for (size_t i = 0; i < RUN_COUNTERS_MAX; i++)
		ret_cost->runs[i] = (double)(mark->runs[i] - before.runs[i]) / elapsed_s;
	ret_cost->other_ns =
		reading_ns(probe) + (double)(mark->sampled_ns - before.sampled_ns) / elapsed_s;
	return true;
}

void cost_mark_function(struct cost_mark *ret_mark, const struct probe *probe, uint32_t function,
			uint64_t now_ns)
{
	struct cost_mark mark = { .time_ns = now_ns };

	if (functions_runs(probe->functions, function, mark.runs))
		mark.time_ns = 0;
	*ret_mark = mark;
}

/* ns of a run at a call, and at a return, of the most expensive of a function's hooks. */
struct run_cost {
	const struct run_counters *run_counters;
	double ns[2];
};

static void add_hook_cost(void *with, const struct attachment *attachment)
{
	struct run_cost *cost = with;
	const struct bpf_program *program = attachment->program;
	double ns = hook_cost_ns(bpf_program__section_name(program)) +
		    (double)run_counters_body_ns(cost->run_counters, program);

	if (attachment->single_step)
		ns += HOOK_SINGLE_STEP_NS;
	if (ns > cost->ns[attachment->at_return])
		cost->ns[attachment->at_return] = ns;
}

bool cost_since_function(struct cost_mark *mark, const struct probe *probe, uint32_t function,
			 uint64_t now_ns, struct cost *ret_cost)
{
	const struct cost_mark before = *mark;
	struct run_cost run = { .run_counters = &probe->run_counters };
	double elapsed_s, ns = 0;

	cost_mark_function(mark, probe, function, now_ns);
	if (!before.time_ns || !mark->time_ns || now_ns <= before.time_ns)
		return false;
	elapsed_s = (double)(now_ns - before.time_ns) / (double)NS_PER_S;
	attachments_each(&probe->object, functions_part(function), add_hook_cost, &run);
	for (size_t i = 0; i < 2; i++)
		ns += (double)(mark->runs[i] - before.runs[i]) * run.ns[i];
	*ret_cost = (struct cost){ .other_ns = ns / elapsed_s };
	return true;
}

double cost_percent(const struct cost *cost, const struct probe *probe)
{
	double ns = run_counters_cost_ns(&probe->run_counters, cost->runs) + cost->other_ns;
	uint64_t cpus = __atomic_load_n(&probe->cpus_online, __ATOMIC_RELAXED);

	return 100 * ns / (double)NS_PER_S / (double)cpus;
}

void cost_note(struct probe *probe, const struct run_statistics *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		run_counters_note(&probe->run_counters, runs->run[i].fd, runs->run[i].rate,
				  runs->run[i].mean_s);
}

void cost_sample(struct probe *probe)
{
	struct run_statistics runs;

	run_statistics_init(&runs, clock_ns());
	if (run_statistics_add(&runs, probe->name, &probe->object) == 0 &&
	    run_statistics_sample(&runs, SAMPLE_US))
		cost_note(probe, &runs);
	run_statistics_done(&runs);
}
