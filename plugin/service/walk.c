/* SPDX-License-Identifier: MIT */
/*
 * Runs the walk over tasks. It has no timer: a reading that finds the last walk older than half of its interval
 * walks, for all readings that follow.
 */
#include "walk.h"

#include "object/annotation.h"
#include "util/clock.h"
#include "util/lock.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#define WALK_PROGRAM "service_walk"
#define WALK_SECTION "iter/task"
#define WALK_TAG "walk:"

static bool is_walk_visitor(const struct object *object, const struct bpf_program *program)
{
	return annotation_of_program(object->bpf, program, WALK_TAG, 0) != NULL;
}

static int walk_map_fd(const struct object *object, const char *map)
{
	return bpf_map__fd(object_map(object, map));
}

int walk_prepare(const struct object *own, struct error *error)
{
	uint32_t cpus = (uint32_t)libbpf_num_possible_cpus();
	int status = bpf_map__set_max_entries(object_map(own, "run_queues"), cpus);

	bpf_program__set_autoattach(bpf_object__find_program_by_name(own->bpf, WALK_PROGRAM),
				    false);
	if (status)
		return error_set(error, status, "cannot size the maps: %s", strerror(-status));
	return idle_prepare(own, error);
}

int walk_open(struct walk *walk, const struct object *own, struct error *error)
{
	const struct bpf_program *program =
		bpf_object__find_program_by_name(own->bpf, WALK_PROGRAM);

	walk->states = walk_map_fd(own, "walks");
	walk->programs = walk_map_fd(own, "walk_visitors");
	walk->link = bpf_program__attach_iter(program, NULL);
	if (!walk->link)
		return error_set(error, -errno, "cannot attach %s: %s", WALK_PROGRAM,
				 strerror(errno));
	return idle_open(&walk->idle, own, error);
}

int walk_exempt(const struct object *object, struct error *error)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object->bpf)
	{
		if (!is_walk_visitor(object, program))
			continue;
		if (strcmp(bpf_program__section_name(program), WALK_SECTION) != 0)
			return error_set(error, -EINVAL, "program %s: WALK is for SEC(\"%s\")",
					 bpf_program__name(program), WALK_SECTION);
		bpf_program__set_autoattach(program, false);
	}
	return 0;
}

/* --- visitors: with the lock held, except for the caller's own object --- */

/* The next reading walks again, and the walk visits every task. */
static int force_full_walk(struct walk *walk)
{
	const struct walk_state state = { .all = 1 };
	const uint32_t zero = 0;

	walk->begun_ns = 0;
	return bpf_map_update_elem(walk->states, &zero, &state, BPF_ANY) == 0 ? 0 : -errno;
}

/* The kernel stops calling visitors at the first gap. */
static int write_visitors(const struct walk *walk)
{
	uint32_t at = 0;

	for (size_t i = 0; i < walk->count; i++) {
		if (walk->visitors[i].stopped)
			continue;
		if (bpf_map_update_elem(walk->programs, &at, &walk->visitors[i].program, BPF_ANY) !=
		    0)
			return -errno;
		at++;
	}
	for (; at < WALK_VISITORS_MAX; at++)
		bpf_map_delete_elem(walk->programs, &at);
	return 0;
}

static int add_walk_visitors(struct walk *walk, const struct object *object)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object->bpf)
	{
		if (!bpf_program__autoload(program) || !is_walk_visitor(object, program))
			continue;
		if (walk->count == WALK_VISITORS_MAX)
			return -ENOSPC;
		walk->visitors[walk->count++] =
			(struct walk_visitor){ .object = object,
					       .program = bpf_program__fd(program),
					       .name = bpf_program__name(program) };
	}
	return 0;
}

static void remove_walk_visitors(struct walk *walk, const struct object *object)
{
	size_t remaining = 0;

	for (size_t i = 0; i < walk->count; i++)
		if (walk->visitors[i].object != object)
			walk->visitors[remaining++] = walk->visitors[i];
	if (remaining == walk->count)
		return;
	walk->count = remaining;
	write_visitors(walk);
}

static bool has_walk_visitors(const struct walk *walk, const struct object *object)
{
	for (size_t i = 0; i < walk->count; i++)
		if (walk->visitors[i].object == object)
			return true;
	return false;
}

/* How often a task was passed on in the last walk: to each visitor that was called, and once more by the last
 * of them if the walk was complete. */
static uint32_t count_passed_on(const struct walk *walk)
{
	struct walk_state state = { 0 };
	const uint32_t zero = 0;

	bpf_map_lookup_elem(walk->states, &zero, &state);
	return state.next;
}

/* The last call of a walk, without a task, is passed on, too. */
static bool is_walk_complete(const struct walk *walk)
{
	uint32_t times = count_passed_on(walk), called = 0;

	for (size_t i = 0; i < walk->count; i++)
		called += !walk->visitors[i].stopped;
	return times == 0 || times > called;
}

/* Stops the visitor that was called last, if any: it asked for the same task again, or did not pass it on. */
static bool stop_last_visitor(struct walk *walk)
{
	struct walk_visitor *last = NULL;
	uint32_t times = count_passed_on(walk);

	for (size_t i = 0; i < walk->count && times; i++) {
		if (walk->visitors[i].stopped)
			continue;
		last = &walk->visitors[i];
		times--;
	}
	if (!last)
		return false;
	last->stopped = true;
	return write_visitors(walk) == 0;
}

static int report_stopped(const struct walk *walk, const struct object *object, struct error *error)
{
	for (size_t i = 0; i < walk->count; i++)
		if (walk->visitors[i].object == object && walk->visitors[i].stopped)
			return error_set(
				error, -EAGAIN,
				"program %s: it kept others from the walk over tasks, and is no longer "
				"called",
				walk->visitors[i].name);
	return 0;
}

/* --- without the lock --- */

int walk_add(struct walk *walk, const struct object *object, struct error *error)
{
	int status;

	lock_acquire_exclusive(&walk->lock);
	status = add_walk_visitors(walk, object);
	status = status ?: write_visitors(walk);
	status = status ?: force_full_walk(walk);
	if (status)
		remove_walk_visitors(walk, object);
	lock_release_rw(&walk->lock);
	return status ? error_set(error, status, "cannot join the walk over tasks: %s",
				  status == -ENOSPC ? "too many programs have" : strerror(-status))
		      : 0;
}

void walk_remove(struct walk *walk, const struct object *object)
{
	lock_acquire_exclusive(&walk->lock);
	remove_walk_visitors(walk, object);
	lock_release_rw(&walk->lock);
}

/* After an incomplete walk the next one must visit all tasks. */
static int run_walk(struct walk *walk, struct error *error)
{
	uint64_t now_ns = clock_ns(), cpu_ns = clock_cpu_ns();
	int status;

	idle_read(&walk->idle);
	status = object_run(walk->link, error);
	while ((status == -EAGAIN || (status == 0 && !is_walk_complete(walk))) &&
	       stop_last_visitor(walk)) {
		force_full_walk(walk);
		now_ns = clock_ns();
		status = object_run(walk->link, error);
	}
	if (status) {
		force_full_walk(walk);
		return status;
	}
	walk->begun_ns = now_ns;
	__atomic_store_n(&walk->cost_ns, clock_cpu_ns() - cpu_ns, __ATOMIC_RELAXED);
	return 0;
}

static int run_walk_if_older(struct walk *walk, uint64_t oldest_ns, struct error *error)
{
	int status;

	lock_acquire_exclusive(&walk->lock);
	/* Another thread may have walked meanwhile. */
	status = walk->begun_ns < oldest_ns ? run_walk(walk, error) : 0;
	/* The clock may not have advanced since the walk before. */
	if (status == 0 && walk->begun_ns < oldest_ns)
		walk->begun_ns = oldest_ns;
	lock_release_rw(&walk->lock);
	return status;
}

int walk_acquire(struct walk *walk, const struct object *object, double interval_s,
		 uint64_t after_ns, struct error *error)
{
	double age_ns = interval_s / 2 * (double)NS_PER_S;
	uint64_t now_ns = clock_ns();
	/* The machine may be up for less than half an interval. */
	uint64_t oldest_ns = (double)now_ns > age_ns ? now_ns - (uint64_t)age_ns : 1;
	int status;

	if (!has_walk_visitors(walk, object))
		return 0;
	if (oldest_ns <= after_ns)
		oldest_ns = after_ns + 1;
	for (;;) {
		lock_acquire_shared(&walk->lock);
		if (walk->begun_ns >= oldest_ns)
			break;
		lock_release_rw(&walk->lock);
		status = run_walk_if_older(walk, oldest_ns, error);
		if (status)
			return status;
	}
	status = report_stopped(walk, object, error);
	if (status)
		lock_release_rw(&walk->lock);
	return status;
}

void walk_release(struct walk *walk, const struct object *object)
{
	if (has_walk_visitors(walk, object))
		lock_release_rw(&walk->lock);
}

uint64_t walk_as_of(const struct walk *walk, const struct object *object, uint64_t now_ns)
{
	return has_walk_visitors(walk, object) && walk->begun_ns < now_ns ? walk->begun_ns : now_ns;
}

void walk_done(struct walk *walk)
{
	bpf_link__destroy(walk->link);
	walk->link = NULL;
	idle_done(&walk->idle);
}
