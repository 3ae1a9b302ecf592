/* SPDX-License-Identifier: MIT */
/*
 * What reading costs where each process is a key of a hash map and each key is
 * fetched by two system calls, get-next-key and look-up: the common way of
 * exporters. One counter per process. For each line of input, one pass over
 * all keys, and a line with its CPU time in nanoseconds.
 *
 * hash_loop KEYS
 */
#include <bpf/bpf.h>
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct process_key {
	uint32_t pid;
	char comm[16];
};

static uint64_t cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

static int filled_map(uint32_t keys)
{
	int map = bpf_map_create(BPF_MAP_TYPE_HASH, "hash_loop", sizeof(struct process_key),
				 sizeof(uint64_t), keys, NULL);

	if (map < 0)
		err(1, "cannot make a hash map");
	for (uint32_t i = 0; i < keys; i++) {
		struct process_key key = { .pid = i + 1, .comm = "many" };
		uint64_t value = i;

		if (bpf_map_update_elem(map, &key, &value, BPF_NOEXIST))
			err(1, "key %u", i);
	}
	return map;
}

static uint32_t pass(int map)
{
	struct process_key key, next, *last = NULL;
	uint32_t found = 0;
	uint64_t value;

	while (bpf_map_get_next_key(map, last, &next) == 0) {
		key = next;
		last = &key;
		found += bpf_map_lookup_elem(map, &key, &value) == 0;
	}
	return found;
}

int main(int argc, char **argv)
{
	uint32_t keys = argc == 2 ? (uint32_t)atoi(argv[1]) : 0;
	char line[16];
	int map;

	if (!keys)
		errx(2, "usage: hash_loop KEYS");
	map = filled_map(keys);
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t begin = cpu_ns();

		if (pass(map) != keys)
			errx(1, "keys are missing");
		printf("%llu\n", (unsigned long long)(cpu_ns() - begin));
		fflush(stdout);
	}
	return 0;
}
