/* SPDX-License-Identifier: MIT */
/*
 * Run counters: programs with a RUN_COUNTER tag count how often they run
 * (bpf/lib/run_counter.bpf.h), and a run costs what its hook and its program take. In an object
 * without such tags, the kernel's statistics may say how often programs run. In an object with
 * them, programs without a tag are taken to run rarely.
 */
#include "hot.h"

#include "attach/attachment.h"
#include "hook_cost.h"
#include "object/annotation.h"
#include "util/clock.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNTER_TAG "hot:"
#define COUNTER_MAP "hot_runs"

static const char *counter_tag(const struct object *object, const struct bpf_program *program,
			       unsigned n)
{
	return annotation_of_program(object->bpf, program, COUNTER_TAG, n);
}

/* The number, or -1. */
static int parse_counter_number(const char *text)
{
	size_t length = strspn(text, "0123456789");
	int number = length == 1 || length == 2 ? atoi(text) : HOT_PROGRAMS_MAX;

	return text[length] == '\0' && number < HOT_PROGRAMS_MAX ? number : -1;
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
		return error_set(error, -EINVAL, "program %s: two HOT tags", name);
	if (parse_counter_number(text) < 0)
		return error_set(
			error, -EINVAL,
			"program %s: \"%.32s\" is not HOT(NUMBER), with a number from 0 to %d",
			name, text, HOT_PROGRAMS_MAX - 1);
	if (hook_cost_ns(bpf_program__section_name(program)) == 0)
		return error_set(
			error, -EINVAL,
			"program %s: HOT is for programs that events run, not for those that readings run",
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
			return error_set(error, -EINVAL, "programs %s and %s: both have HOT(%d)",
					 bpf_program__name(other), bpf_program__name(program),
					 number);
	}
	return 0;
}

static int check_counter_map(const struct object *object, struct error *error)
{
	const struct bpf_map *map = object_map(object, COUNTER_MAP);

	if (!map || bpf_map__type(map) != BPF_MAP_TYPE_PERCPU_ARRAY ||
	    bpf_map__value_size(map) != sizeof(uint64_t) ||
	    bpf_map__max_entries(map) != HOT_PROGRAMS_MAX)
		return error_set(error, -EINVAL,
				 "HOT tags are for the map " COUNTER_MAP
				 " of hot.bpf.h, which it has not as "
				 "this version of the plugin has it; include that header");
	return 0;
}

int hot_check(const struct object *object, struct error *error)
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

int hot_open(struct hot *ret_hot, const struct object *object)
{
	const struct bpf_map *map = object_map(object, COUNTER_MAP);
	struct hot hot = { .map = -1, .cpus = (size_t)libbpf_num_possible_cpus() };
	struct bpf_program *program;
	size_t programs = 0;
	struct error ignored;

	bpf_object__for_each_program(program, object->bpf) programs++;
	hot.programs = calloc(programs + 1, sizeof(*hot.programs));
	if (!hot.programs)
		return -ENOMEM;
	bpf_object__for_each_program(program, object->bpf)
	{
		unsigned hook_ns = hook_cost_ns(bpf_program__section_name(program));

		hook_ns += (unsigned)(attachments_stepped(object, program) * HOOK_STEPPED_NS);
		if (bpf_program__autoload(program) && hook_ns)
			hot.programs[hot.count++] =
				(struct hot_program){ .fd = bpf_program__fd(program),
						      .number = counter_number(object, program),
						      .hook_ns = hook_ns,
						      .body_ns = HOOK_BODY_NS,
						      .rate = HOT_UNKNOWN };
	}
	if (map && check_counter_map(object, &ignored) == 0)
		hot.map = bpf_map__fd(map);
	*ret_hot = hot;
	return 0;
}

static int read_run_counters(const struct hot *hot, uint64_t *of_cpus)
{
	uint32_t keys[HOT_PROGRAMS_MAX], done = 0;
	uint64_t batch = 0; /* the kernel's position in the map */

	while (done < HOT_PROGRAMS_MAX) {
		uint32_t count = HOT_PROGRAMS_MAX - done;
		int status = bpf_map_lookup_batch(hot->map, done ? &batch : NULL, &batch, keys,
						  of_cpus + done * hot->cpus, &count, NULL);

		done += status == 0 || status == -ENOENT ? count : 0;
		if (status == -ENOENT)
			break;
		if (status || count == 0)
			return status ?: -EIO;
	}
	return 0;
}

int run_counters_read(const struct hot *hot, uint64_t ret_runs[HOT_PROGRAMS_MAX])
{
	uint64_t *of_cpus;
	int status;

	memset(ret_runs, 0, HOT_PROGRAMS_MAX * sizeof(*ret_runs));
	if (!hot->count || hot->map < 0)
		return 0;
	of_cpus = calloc(HOT_PROGRAMS_MAX * hot->cpus, sizeof(*of_cpus));
	if (!of_cpus)
		return -ENOMEM;
	status = read_run_counters(hot, of_cpus);
	for (size_t i = 0; i < HOT_PROGRAMS_MAX * hot->cpus && status == 0; i++)
		ret_runs[i / hot->cpus] += of_cpus[i];
	free(of_cpus);
	return status;
}

void hot_note(struct hot *hot, int fd, double rate, double mean_s)
{
	for (size_t i = 0; i < hot->count; i++) {
		struct hot_program *program = &hot->programs[i];
		double body_ns = mean_s * (double)NS_PER_S - HOOK_STATISTICS_NS;

		if (program->fd != fd)
			continue;
		__atomic_store_n(&program->rate, (uint64_t)rate, __ATOMIC_RELAXED);
		if (mean_s > 0)
			__atomic_store_n(&program->body_ns, body_ns > 0 ? (uint64_t)body_ns : 0,
					 __ATOMIC_RELAXED);
	}
}

void hot_rest(struct hot *hot)
{
	for (size_t i = 0; i < hot->count; i++)
		if (hot->programs[i].rate != HOT_UNKNOWN)
			__atomic_store_n(&hot->programs[i].rate, 0, __ATOMIC_RELAXED);
}

uint64_t hot_body_ns(const struct hot *hot, const struct bpf_program *program)
{
	int fd = bpf_program__fd(program);

	for (size_t i = 0; i < hot->count; i++)
		if (hot->programs[i].fd == fd)
			return __atomic_load_n(&hot->programs[i].body_ns, __ATOMIC_RELAXED);
	return HOOK_BODY_NS;
}

/* Runs per second of one program. */
static double run_rate(const struct hot *hot, const struct hot_program *program,
		       const double runs[HOT_PROGRAMS_MAX])
{
	uint64_t rate = __atomic_load_n(&program->rate, __ATOMIC_RELAXED);

	if (program->number >= 0)
		return runs[program->number];
	if (rate != HOT_UNKNOWN)
		return (double)rate;
	return hot->map >= 0 ? 0 : NAN;
}

double hot_cost_ns(const struct hot *hot, const double runs[HOT_PROGRAMS_MAX])
{
	double all_ns = 0;

	for (size_t i = 0; i < hot->count; i++) {
		const struct hot_program *program = &hot->programs[i];
		uint64_t body_ns = __atomic_load_n(&program->body_ns, __ATOMIC_RELAXED);

		all_ns += run_rate(hot, program, runs) * (double)(program->hook_ns + body_ns);
	}
	return all_ns;
}

void hot_done(struct hot *hot)
{
	free(hot->programs);
	*hot = (struct hot){ .map = -1 };
}
