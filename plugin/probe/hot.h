/* SPDX-License-Identifier: MIT */
#ifndef EBPF_HOT_H
#define EBPF_HOT_H

#include "bpf/lib/hot.h"
#include "object/object.h"
#include "util/message.h"

#include <stddef.h>
#include <stdint.h>

/* The programs of an object that events run, and how often they do. */
struct hot {
	struct hot_program {
		int fd;
		int number; /* of its counter, by its HOT tag, -1: it has none */
		unsigned hook_ns;
		/* By the kernel's statistics; atomic. */
		uint64_t body_ns; /* what a run takes, before: HOOK_BODY_NS */
		uint64_t rate;    /* runs a second, before: HOT_UNKNOWN */
	} * programs;
	size_t count;
	int map; /* of the counters, -1: there is none */
	size_t cpus;
};

#define HOT_UNKNOWN UINT64_MAX

/* Are the HOT tags of the programs in use right, each number once, and is there a map for them?
 * -EINVAL: the error names the one that is not. After variant_select(). */
int hot_check(const struct object *object, struct error *error);

/* Of an object that is attached, which outlives it. 0 or -ENOMEM. */
int hot_open(struct hot *ret_hot, const struct object *object);

/* How often each has run so far, by number; a negative errno: nothing is known. */
int hot_runs(const struct hot *hot, uint64_t ret_runs[HOT_PROGRAMS_MAX]);

/* What the kernel's statistics say of a program: runs a second, and seconds of a run, 0: it was not
 * run. */
void hot_note(struct hot *hot, int fd, double rate, double mean_s);

/* They are detached: those of which that said how often they run do so no more. */
void hot_rest(struct hot *hot);

/* What a run of a program takes in itself, in ns. */
uint64_t hot_body_ns(const struct hot *hot, const struct bpf_program *program);

/* CPU time in a second that has so many runs, in ns; NAN: it is not known how often the
 * programs run. */
double hot_cost_ns(const struct hot *hot, const double runs[HOT_PROGRAMS_MAX]);

void hot_done(struct hot *hot);

#endif
