/* SPDX-License-Identifier: MIT */
/*
 * Run counters: programs with a RUN_COUNTER tag count how often they run
 * (bpf/lib/run_counter.bpf.h), and a run costs what its hook and its program take. In an object
 * without such tags, the kernel's statistics may say how often programs run. In an object with
 * them, programs without a tag are taken to run rarely.
 */
#include "run_counter.h"

#include "attach/attachment_list.h"
#include "hook_cost.h"
#include "object/annotation.h"
#include "util/clock.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNTER_TAG "run_counter:"
#define COUNTER_MAP "run_counters"

static const char *counter_tag(const struct object *object, const struct bpf_program *program,
			       unsigned n)
{
	return annotation_of_program(object->bpf, program, COUNTER_TAG, n);
}

/* The number, or -1. */
static int parse_counter_number(const char *text)
{
	size_t length = strspn(text, "0123456789");
	int number = length == 1 || length == 2 ? atoi(text) : RUN_COUNTERS_MAX;

	return text[length] == '\0' && number < RUN_COUNTERS_MAX ? number : -1;
}

/* The number of a program that is loaded, or -1. */
static int counter_number(const struct object *object, const struct bpf_program *program)
{
	const char *text = counter_tag(object, program, 0);

	return text && bpf_program__autoload(program) ? parse_counter_number(text) : -1;
}

static int check_counter_tag(const struct object *object, const struct bpf_program *program,
			     const char *text, struct error *error)
{
	const char *name = bpf_program__name(program);

	if (counter_tag(object, program, 1))
		return error_set(error, -EINVAL, "program %s: two RUN_COUNTER tags", name);
	if (parse_counter_number(text) < 0)
		return error_set(
			error, -EINVAL,
			"program %s: \"%.32s\" is not RUN_COUNTER(NUMBER), with a number from 0 to %d",
			name, text, RUN_COUNTERS_MAX - 1);
	if (hook_cost_ns(bpf_program__section_name(program)) == 0)
		return error_set(
			error, -EINVAL,
			"program %s: RUN_COUNTER is for programs that events run, not for those that readings run",
			name);
	return 0;
}

/* Checks that no earlier program that is loaded has the same number. */
static int check_counter_number(const struct object *object, const struct bpf_program *program,
				struct error *error)
{
	int number = counter_number(object, program);
	struct bpf_program *other;

	bpf_object__for_each_program(other, object->bpf)
	{
		if (other == program)
			break;
		if (number >= 0 && counter_number(object, other) == number)
			return error_set(
				error, -EINVAL, "programs %s and %s: both have RUN_COUNTER(%d)",
				bpf_program__name(other), bpf_program__name(program), number);
	}
	return 0;
}

static int check_counter_map(const struct object *object, struct error *error)
{
	const struct bpf_map *map = object_map(object, COUNTER_MAP);

	if (!map || bpf_map__type(map) != BPF_MAP_TYPE_PERCPU_ARRAY ||
	    bpf_map__value_size(map) != sizeof(uint64_t) ||
	    bpf_map__max_entries(map) != RUN_COUNTERS_MAX)
		return error_set(error, -EINVAL,
				 "RUN_COUNTER tags are for the map " COUNTER_MAP
				 " of run_counter.bpf.h, which the object does not have as this "
				 "version of the plugin defines it; include that header");
	return 0;
}

int run_counters_check(const struct object *object, struct error *error)
{
	struct bpf_program *program;
	bool any = false;

	bpf_object__for_each_program(program, object->bpf)
	{
		const char *text = counter_tag(object, program, 0);
		int status = text ? check_counter_tag(object, program, text, error) : 0;

		status = status ?: check_counter_number(object, program, error);
		if (status)
			return status;
		any |= text != NULL;
	}
	return any ? check_counter_map(object, error) : 0;
}

int run_counters_open(struct run_counters *ret_run_counters, const struct object *object)
{
	const struct bpf_map *map = object_map(object, COUNTER_MAP);
	struct run_counters run_counters = { .map = -1,
					     .cpus = (size_t)libbpf_num_possible_cpus() };
	struct bpf_program *program;
	size_t programs = 0;
	struct error ignored;

	bpf_object__for_each_program(program, object->bpf) programs++;
	run_counters.programs = calloc(programs + 1, sizeof(*run_counters.programs));
	if (!run_counters.programs)
		return -ENOMEM;
	bpf_object__for_each_program(program, object->bpf)
	{
		unsigned hook_ns = hook_cost_ns(bpf_program__section_name(program));

		hook_ns += (unsigned)(attachments_single_step_ratio(object, program) *
				      HOOK_SINGLE_STEP_NS);
		if (bpf_program__autoload(program) && hook_ns)
			run_counters.programs[run_counters.count++] =
				(struct counted_program){ .fd = bpf_program__fd(program),
							  .number = counter_number(object, program),
							  .hook_ns = hook_ns,
							  .body_ns = HOOK_BODY_NS,
							  .rate = RUN_RATE_UNKNOWN };
	}
	if (map && check_counter_map(object, &ignored) == 0)
		run_counters.map = bpf_map__fd(map);
	*ret_run_counters = run_counters;
	return 0;
}

static int read_run_counters(const struct run_counters *run_counters, uint64_t *of_cpus)
{
	uint32_t keys[RUN_COUNTERS_MAX], done = 0;
	uint64_t batch = 0; /* the kernel's position in the map */

	while (done < RUN_COUNTERS_MAX) {
		uint32_t count = RUN_COUNTERS_MAX - done;
		int status =
			bpf_map_lookup_batch(run_counters->map, done ? &batch : NULL, &batch, keys,
					     of_cpus + done * run_counters->cpus, &count, NULL);

		done += status == 0 || status == -ENOENT ? count : 0;
		if (status == -ENOENT)
			break;
		if (status || count == 0)
			return status ?: -EIO;
	}
	return 0;
}

int run_counters_read(const struct run_counters *run_counters, uint64_t ret_runs[RUN_COUNTERS_MAX])
{
	uint64_t *of_cpus;
	int status;

	memset(ret_runs, 0, RUN_COUNTERS_MAX * sizeof(*ret_runs));
	if (!run_counters->count || run_counters->map < 0)
		return 0;
	of_cpus = calloc(RUN_COUNTERS_MAX * run_counters->cpus, sizeof(*of_cpus));
	if (!of_cpus)
		return -ENOMEM;
	status = read_run_counters(run_counters, of_cpus);
	for (size_t i = 0; i < RUN_COUNTERS_MAX * run_counters->cpus && status == 0; i++)
		ret_runs[i / run_counters->cpus] += of_cpus[i];
	free(of_cpus);
	return status;
}

void run_counters_note(struct run_counters *run_counters, int fd, double rate, double mean_s)
{
	for (size_t i = 0; i < run_counters->count; i++) {
		struct counted_program *program = &run_counters->programs[i];
		double body_ns = mean_s * (double)NS_PER_S - HOOK_STATISTICS_NS;

		if (program->fd != fd)
			continue;
		__atomic_store_n(&program->rate, (uint64_t)rate, __ATOMIC_RELAXED);
		if (mean_s > 0)
			__atomic_store_n(&program->body_ns, body_ns > 0 ? (uint64_t)body_ns : 0,
					 __ATOMIC_RELAXED);
	}
}

void run_counters_pause(struct run_counters *run_counters)
{
	for (size_t i = 0; i < run_counters->count; i++)
		if (run_counters->programs[i].rate != RUN_RATE_UNKNOWN)
			__atomic_store_n(&run_counters->programs[i].rate, 0, __ATOMIC_RELAXED);
}

uint64_t run_counters_body_ns(const struct run_counters *run_counters,
			      const struct bpf_program *program)
{
	int fd = bpf_program__fd(program);

	for (size_t i = 0; i < run_counters->count; i++)
		if (run_counters->programs[i].fd == fd)
			return __atomic_load_n(&run_counters->programs[i].body_ns,
					       __ATOMIC_RELAXED);
	return HOOK_BODY_NS;
}

/* Runs per second of one program. */
static double run_rate(const struct run_counters *run_counters,
		       const struct counted_program *program, const double runs[RUN_COUNTERS_MAX])
{
	uint64_t rate = __atomic_load_n(&program->rate, __ATOMIC_RELAXED);

	if (program->number >= 0)
		return runs[program->number];
	if (rate != RUN_RATE_UNKNOWN)
		return (double)rate;
	return run_counters->map >= 0 ? 0 : NAN;
}

double run_counters_cost_ns(const struct run_counters *run_counters,
			    const double runs[RUN_COUNTERS_MAX])
{
	double all_ns = 0;

	for (size_t i = 0; i < run_counters->count; i++) {
		const struct counted_program *program = &run_counters->programs[i];
		uint64_t body_ns = __atomic_load_n(&program->body_ns, __ATOMIC_RELAXED);

		all_ns += run_rate(run_counters, program, runs) *
			  (double)(program->hook_ns + body_ns);
	}
	return all_ns;
}

void run_counters_done(struct run_counters *run_counters)
{
	free(run_counters->programs);
	*run_counters = (struct run_counters){ .map = -1 };
}
