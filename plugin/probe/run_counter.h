/* SPDX-License-Identifier: MIT */
#ifndef EBPF_RUN_COUNTER_H
#define EBPF_RUN_COUNTER_H

#include "bpf/lib/run_counter.h"
#include "object/object.h"
#include "util/message.h"

#include <stddef.h>
#include <stdint.h>

/* The programs of an object that events run, and how often they run. */
struct run_counters {
	struct counted_program {
		int fd;
		int number; /* of its counter, by the RUN_COUNTER tag; -1: none */
		unsigned hook_ns;
		/* From the kernel's statistics; atomic. */
		uint64_t body_ns; /* time of a run; HOOK_BODY_NS until a sample has one */
		uint64_t rate;    /* runs per second; RUN_RATE_UNKNOWN until a sample has one */
	} * programs;
	size_t count;
	int map; /* fd of the counters' map; -1: there is none */
	size_t cpus;
};

#define RUN_RATE_UNKNOWN UINT64_MAX

/* Checks the RUN_COUNTER tags of the programs that are loaded: each number occurs once, and the
 * object has the map for them. -EINVAL: the error names the program. To be called after
 * hook_set_select(). */
int run_counters_check(const struct object *object, struct error *error);

/* Lists the programs of an object that is attached and outlives `ret_run_counters`. 0 or -ENOMEM. */
int run_counters_open(struct run_counters *ret_run_counters, const struct object *object);

/* Runs so far, by number of the counter. A negative errno: unknown. */
int run_counters_read(const struct run_counters *run_counters, uint64_t ret_runs[RUN_COUNTERS_MAX]);

/* Sets what the kernel's statistics say about a program: runs per second, and the mean time of a
 * run in seconds (0: it did not run). */
void run_counters_note(struct run_counters *run_counters, int fd, double rate, double mean_s);

/* The programs were detached: rates from the kernel's statistics become 0. */
void run_counters_pause(struct run_counters *run_counters);

/* ns that a run of the program takes, without its hook. */
uint64_t run_counters_body_ns(const struct run_counters *run_counters,
			      const struct bpf_program *program);

/* CPU time per second, in ns, at these runs per second (by number). NAN: how often the programs run
 * is unknown. */
double run_counters_cost_ns(const struct run_counters *run_counters,
			    const double runs[RUN_COUNTERS_MAX]);

void run_counters_done(struct run_counters *run_counters);

#endif
