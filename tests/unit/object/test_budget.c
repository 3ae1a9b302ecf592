/* SPDX-License-Identifier: MIT */
/*
 * Memory of objects, as their maps declare it, and the limit for all objects.
 */
#include "tests/unit/testing.h"

#include "plugin/object/budget.h"
#include "plugin/object/engine_object.h"

#include <errno.h>

#define MIB BUDGET_MIB

static void test_sizes(void)
{
	CASE("sizes");
	CHECK_UINT(size_product(UINT32_MAX, UINT32_MAX), 0xfffffffe00000001);
	CHECK_UINT(size_product(1ULL << 33, 1ULL << 31), UINT64_MAX);
	CHECK_UINT(size_product(0, UINT64_MAX), 0);
	CHECK_UINT(size_sum(UINT64_MAX - 1, 1), UINT64_MAX);
	CHECK_UINT(size_sum(UINT64_MAX, 1), UINT64_MAX);
}

static void test_maps(void)
{
	static const struct {
		enum bpf_map_type type;
		uint32_t entries, key, value;
		unsigned cpus;
		uint64_t want;
	} cases[] = {
		{ BPF_MAP_TYPE_ARRAY, 10, 4, 9, 64, 160 },
		{ BPF_MAP_TYPE_ARRAY, UINT32_MAX, 4, 1U << 31, 1, 0x7fffffff80000000 },
		{ BPF_MAP_TYPE_QUEUE, 10, 0, 4, 64, 80 },
		{ BPF_MAP_TYPE_PERCPU_ARRAY, 10, 4, 8, 64, 10 * (64 * 8 + 8) },
		{ BPF_MAP_TYPE_HASH, 10, 4, 12, 64, 10 * (64 + 8 + 16) },
		{ BPF_MAP_TYPE_LRU_HASH, 10, 4, 12, 64, 10 * (64 + 8 + 16) },
		{ BPF_MAP_TYPE_PERCPU_HASH, 10, 4, 12, 2, 10 * (64 + 8 + 32) },
		{ BPF_MAP_TYPE_LRU_PERCPU_HASH, 1U << 31, 4, 1U << 31, 8192, UINT64_MAX },
		{ BPF_MAP_TYPE_RINGBUF, 65536, 0, 0, 64, 65536 },
		{ BPF_MAP_TYPE_TASK_STORAGE, 0, 4, 64, 64, 0 },
		{ (enum bpf_map_type)33, 1U << 20, 0, 0, 64, 4ULL << 30 }, /* an arena */
		{ (enum bpf_map_type)1000, 3, 4, 8, 64, 3 * (64 + 8 + 8) },
	};
	struct error error = { "" };
	struct object object;
	struct bpf_map *map;

	CHECK_INT(engine_object_open(&object, &error), 0);
	map = bpf_object__find_map_by_name(object.bpf, "assignments");
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		uint64_t want = cases[i].want;

		CASE("map of type %d", cases[i].type);
		CHECK_INT(bpf_map__set_type(map, cases[i].type), 0);
		CHECK_INT(bpf_map__set_max_entries(map, cases[i].entries), 0);
		CHECK_INT(bpf_map__set_key_size(map, cases[i].key), 0);
		CHECK_INT(bpf_map__set_value_size(map, cases[i].value), 0);
		if (cases[i].type == 33)
			want = want / 4096 * (uint64_t)sysconf(_SC_PAGESIZE);
		CHECK_UINT(demand_of_map(map, cases[i].cpus), want);
	}
	object_done(&object);
}

/* A shared map is counted for its owner only. */
static void test_common_maps(void)
{
	struct demand own = { 0 }, borrowed = { 0 };
	struct error error = { "" };
	struct object object;

	CASE("shared");
	CHECK_INT(engine_object_open(&object, &error), 0);
	demand_add_maps(&own, &object, false);
	demand_add_maps(&borrowed, &object, true);
	/* service_moves, walks, walk_visitors, service_cpus, cpu_idles, service_requests,
	 * service_samples, service_responses, served_pids, servings, servings_end,
	 * service_groups, service_names */
	CHECK_UINT(own.bytes - borrowed.bytes, 8 + 8 + 16 * (64 + 8 + 8) + 2 * 16 + 16 + 2 * 424 +
						       2 * 440 + 456 + 16384 + 8192 * 328 + 8 +
						       4096 * 224 + 200);
	CHECK_TEXT(own.largest, "servings");
	CHECK_INT(own.largest_bytes < own.bytes, 1);
	object_done(&object);
}

static void test_ceiling(void)
{
	struct budget budget = { .limit = 10 * MIB };
	struct demand six = { 0 }, four = { 0 }, all = { 0 }, byte = { 0 };
	struct error error = { "" };

	CASE("ceiling");
	demand_add(&six, "small", MIB);
	demand_add(&six, "large", 4 * MIB + 1);
	demand_add(&six, "small", MIB);
	CHECK_INT(budget_reserve(&budget, &six, &error), 0);
	CHECK_INT(budget_reserve(&budget, &six, &error), -ENOSPC);
	CHECK_TEXT(error.text, "it needs 7 MiB of memory, most of it for the map large, but of "
			       "MaxMemory 10 only 3 MiB are left; raise MaxMemory or give that map "
			       "fewer entries");
	CASE("what is left");
	demand_add(&four, "rest", 4 * MIB - 1);
	CHECK_INT(budget_reserve(&budget, &four, &error), 0);
	CHECK_UINT(budget.used, budget.limit);
	demand_add(&byte, "byte", 1);
	CHECK_INT(budget_reserve(&budget, &byte, &error), -ENOSPC);
	CASE("given back");
	budget_release(&budget, six.bytes);
	CHECK_INT(budget_reserve(&budget, &four, &error), 0);
	CASE("more than there is");
	demand_add(&all, "a", UINT64_MAX);
	demand_add(&all, "b", UINT64_MAX);
	CHECK_INT(budget_reserve(&budget, &all, &error), -ENOSPC);
	CHECK_UINT(budget.used, 8 * MIB - 2);
}

int main(void)
{
	test_sizes();
	test_maps();
	test_common_maps();
	test_ceiling();
	return testing_end();
}
