/* SPDX-License-Identifier: MIT */
/*
 * When the walk over all tasks runs, and which programs it calls. Maps and iterators are played;
 * nothing is loaded.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/maps.h"

#include "plugin/object/engine_object.h"
#include "plugin/service/walk.h"
#include "plugin/util/clock.h"

#include <errno.h>

#define LONGER_THAN_UP_S 1e15
#define LONG_S 3600

static struct file_helper files;
static struct object own;
static struct walk walk;

static void open_object(struct object *object, const char *path)
{
	struct error error = { "" };

	CHECK_INT(object_open(object, testing_built(path), &files, &error), 0);
}

static void begin(void)
{
	struct error error = { "" };

	walk = (struct walk){ 0 };
	pthread_rwlock_init(&walk.lock, NULL);
	CHECK_INT(engine_object_open(&own, &error), 0);
	CHECK_INT(walk_prepare(&own, &error), 0);
	walk.states = bpf_map__fd(object_map(&own, "walks"));
	walk.programs = bpf_map__fd(object_map(&own, "walk_visitors"));
}

static void end(void)
{
	pthread_rwlock_destroy(&walk.lock);
	object_done(&own);
	maps_clear();
}

/* Returns the number of walks. */
static unsigned read_once(const struct object *object, double interval_s)
{
	struct error error = { "" };
	unsigned before = maps_walks;

	CHECK_INT(walk_acquire(&walk, object, interval_s, 0, &error), 0);
	walk_release(&walk, object);
	return maps_walks - before;
}

static uint32_t all(void)
{
	struct walk_state state = { 0 };

	maps_get("walks", &(uint32_t){ 0 }, &state);
	return state.all;
}

static void test_prepare(void)
{
	struct bpf_program *program;

	CASE("prepare");
	begin();
	CHECK_UINT(bpf_map__max_entries(object_map(&own, "run_queues")),
		   libbpf_num_possible_cpus());
	bpf_object__for_each_program(program, own.bpf)
		CHECK_INT(bpf_program__autoattach(program),
			  strcmp(bpf_program__name(program), "service_walk") != 0);
	end();
}

/* Of two readings, the one that finds the last walk too old walks for both. */
static void test_age(void)
{
	struct object process, request, none;
	struct error error = { "" };
	unsigned claimed;

	CASE("age");
	begin();
	open_object(&process, "bpf/process.bpf.o");
	open_object(&request, "bpf/request.bpf.o");
	open_object(&none, "bpf/oom.bpf.o");
	CHECK_INT(walk_add(&walk, &process, &error), 0);
	CHECK_INT(walk_add(&walk, &none, &error), 0);
	CHECK_UINT(maps_count("walk_visitors"), 1);
	CHECK_UINT(all(), 1);
	CHECK_UINT(read_once(&none, 0), 0);
	CHECK_UINT(read_once(&process, LONG_S), 1);
	CHECK_UINT(read_once(&process, LONG_S), 0);
	CHECK_UINT(read_once(&process, LONGER_THAN_UP_S), 0);
	CHECK_UINT(walk_as_of(&walk, &process, UINT64_MAX), walk.begun_ns);
	CHECK_UINT(walk_as_of(&walk, &process, 1), 1);
	CHECK_UINT(walk_as_of(&walk, &none, UINT64_MAX), UINT64_MAX);
	CHECK_UINT(read_once(&process, 0), 1);
	CASE("no walk twice");
	CHECK_INT(walk_acquire(&walk, &process, LONG_S, walk.begun_ns, &error), 0);
	walk_release(&walk, &process);
	CHECK_UINT(read_once(&process, LONG_S), 0);
	CASE("no time has passed since the last one");
	claimed = maps_walks;
	CHECK_INT(walk_acquire(&walk, &process, LONG_S, clock_ns() + NS_PER_S, &error), 0);
	walk_release(&walk, &process);
	CHECK_UINT(maps_walks - claimed, 1);
	CHECK_INT(walk_add(&walk, &none, &error), 0);
	CASE("a probe that joins needs a walk, and then uses that of another");
	CHECK_INT(walk_add(&walk, &request, &error), 0);
	CHECK_UINT(maps_count("walk_visitors"), 2);
	CHECK_UINT(read_once(&request, LONG_S), 1);
	CHECK_UINT(read_once(&process, LONG_S), 0);
	CASE("no gap where one has left");
	walk_remove(&walk, &process);
	CHECK_UINT(maps_count("walk_visitors"), 1);
	CHECK_INT(maps_get("walk_visitors", &(uint32_t){ 0 }, &(uint32_t){ 0 }), 1);
	CHECK_UINT(read_once(&process, 0), 0);
	CHECK_UINT(read_once(&request, 0), 1);
	object_done(&process);
	object_done(&request);
	object_done(&none);
	end();
}

/* Tasks that a failed walk has missed are visited by the next one. */
static void test_failure(void)
{
	const struct walk_state none = { 0 };
	struct object process;
	struct error error = { "" };

	CASE("a walk that fails");
	begin();
	open_object(&process, "bpf/process.bpf.o");
	CHECK_INT(walk_add(&walk, &process, &error), 0);
	CHECK_UINT(read_once(&process, LONG_S), 1);
	CHECK_INT(maps_put("walks", &(uint32_t){ 0 }, &none), 1);
	maps_fail_walks = EMFILE;
	CHECK_INT(walk_acquire(&walk, &process, 0, 0, &error), -EMFILE);
	CHECK_HAS(error.text, "cannot run its iterator: Too many open files");
	CHECK_UINT(all(), 1);
	maps_fail_walks = 0;
	CHECK_UINT(read_once(&process, LONG_S), 1);
	object_done(&process);
	end();
}

static void fail_no_more(void)
{
	maps_fail_walks = maps_walks == 2 ? EAGAIN : 0;
}

/* The second program was called when the walk stopped. */
static void test_endless(void)
{
	const struct walk_state second = { .next = 2 };
	struct object process, request;
	struct error error = { "" };

	CASE("a program that does not come to an end");
	begin();
	open_object(&process, "bpf/process.bpf.o");
	open_object(&request, "bpf/request.bpf.o");
	CHECK_INT(walk_add(&walk, &request, &error), 0);
	CHECK_INT(walk_add(&walk, &process, &error), 0);
	CHECK_UINT(read_once(&request, 0), 1);
	CHECK_INT(maps_put("walks", &(uint32_t){ 0 }, &second), 1);
	maps_on_walk = fail_no_more;
	CHECK_UINT(read_once(&request, 0), 2);
	CHECK_UINT(maps_count("walk_visitors"), 1);
	CHECK_INT(walk_acquire(&walk, &process, 0, 0, &error), -EAGAIN);
	CHECK_TEXT(
		error.text,
		"program process_walk: it kept others from the walk over tasks, and is no longer called");
	CASE("nor does one that has handed on the end: all have");
	CHECK_INT(maps_put("walks", &(uint32_t){ 0 }, &second), 1);
	CHECK_UINT(read_once(&request, 0), 1);
	CHECK_UINT(maps_count("walk_visitors"), 1);
	CASE("a walk that calls none");
	walk_remove(&walk, &process);
	maps_on_walk = NULL;
	maps_fail_walks = EAGAIN;
	CHECK_INT(maps_put("walks", &(uint32_t){ 0 }, &(struct walk_state){ 0 }), 1);
	CHECK_INT(walk_acquire(&walk, &request, 0, 0, &error), -EAGAIN);
	CHECK_UINT(maps_count("walk_visitors"), 1);
	object_done(&process);
	object_done(&request);
	end();
}

static void test_too_many(void)
{
	struct object objects[WALK_VISITORS_MAX + 1];
	struct error error = { "" };

	CASE("too many");
	begin();
	for (int i = 0; i <= WALK_VISITORS_MAX; i++) {
		open_object(&objects[i], "bpf/process.bpf.o");
		CHECK_INT(walk_add(&walk, &objects[i], &error),
			  i < WALK_VISITORS_MAX ? 0 : -ENOSPC);
	}
	CHECK_HAS(error.text, "too many programs have");
	CHECK_UINT(walk.count, WALK_VISITORS_MAX);
	for (int i = 0; i <= WALK_VISITORS_MAX; i++)
		object_done(&objects[i]);
	end();
}

static void test_exempt(void)
{
	struct error error = { "" };
	struct bpf_program *program;
	struct object object;

	CASE("which programs are not attached");
	open_object(&object, "bpf/process.bpf.o");
	CHECK_INT(walk_exempt(&object, &error), 0);
	bpf_object__for_each_program(program, object.bpf)
		CHECK_INT(bpf_program__autoattach(program),
			  strcmp(bpf_program__name(program), "process_walk") != 0);
	object_done(&object);
	CASE("no walk over tasks");
	open_object(&object, "tests/bpf/walk_mistake.bpf.o");
	CHECK_INT(walk_exempt(&object, &error), -EINVAL);
	CHECK_TEXT(error.text, "program forked: WALK is for SEC(\"iter/task\")");
	object_done(&object);
}

int main(void)
{
	file_helper_init(&files);
	test_prepare();
	test_age();
	test_failure();
	test_endless();
	test_too_many();
	test_exempt();
	file_helper_done(&files);
	return testing_end();
}
