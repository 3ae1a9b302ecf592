/* SPDX-License-Identifier: MIT */
#ifndef EBPF_HOT_H
#define EBPF_HOT_H

#include "bpf/lib/hot.h"
#include "object/object.h"
#include "util/message.h"

#include <stddef.h>
#include <stdint.h>

/* The programs of an object that events run, and how often they run. */
struct hot {
	struct hot_program {
		int fd;
		int number; /* of its counter, by the RUN_COUNTER tag; -1: none */
		unsigned hook_ns;
		/* From the kernel's statistics; atomic. */
		uint64_t body_ns; /* time of a run; HOOK_BODY_NS until a sample has one */
		uint64_t rate;    /* runs per second; HOT_UNKNOWN until a sample has one */
	} * programs;
	size_t count;
	int map; /* fd of the counters' map; -1: there is none */
	size_t cpus;
};

#define HOT_UNKNOWN UINT64_MAX

/* Checks the RUN_COUNTER tags of the programs that are loaded: each number occurs once, and the
 * object has the map for them. -EINVAL: the error names the program. To be called after
 * variant_select(). */
int hot_check(const struct object *object, struct error *error);

/* Lists the programs of an object that is attached and outlives `ret_hot`. 0 or -ENOMEM. */
int hot_open(struct hot *ret_hot, const struct object *object);

/* Runs so far, by number of the counter. A negative errno: unknown. */
int run_counters_read(const struct hot *hot, uint64_t ret_runs[HOT_PROGRAMS_MAX]);

/* Sets what the kernel's statistics say about a program: runs per second, and the mean time of a
 * run in seconds (0: it did not run). */
void hot_note(struct hot *hot, int fd, double rate, double mean_s);

/* The programs were detached: rates from the kernel's statistics become 0. */
void hot_rest(struct hot *hot);

/* ns that a run of the program takes, without its hook. */
uint64_t hot_body_ns(const struct hot *hot, const struct bpf_program *program);

/* CPU time per second, in ns, at these runs per second (by number). NAN: how often the programs run
 * is unknown. */
double hot_cost_ns(const struct hot *hot, const double runs[HOT_PROGRAMS_MAX]);

void hot_done(struct hot *hot);

#endif
