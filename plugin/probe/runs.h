/* SPDX-License-Identifier: MIT */
#ifndef EBPF_RUNS_H
#define EBPF_RUNS_H

#include "object/object.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUN_NAME_MAX 120 /* of the 128 bytes of a type instance */

struct run {
	char name[RUN_NAME_MAX]; /* OBJECT-PROGRAM; no other has it */
	int fd;                  /* the object's */
	uint64_t count;          /* as the kernel told last */
	uint64_t time_ns;
	uint64_t marked_count; /* as it was when the sample began */
	uint64_t marked_time_ns;
	double rate;   /* per second, in the last sample */
	double mean_s; /* in the last sample that has a run of it, 0: none has */
};

/* The programs of all objects, and what their runs cost. */
struct runs {
	struct run *run;
	size_t count;
	uint64_t total;      /* runs of all, as the kernel told last */
	uint64_t due_ns;     /* when the next sample is due, of CLOCK_BOOTTIME */
	uint64_t sampled_ns; /* when the last one was taken, 0: never */
};

/* The programs of an object that is loaded and outlives this; of those whose names are
 * the same when cut, the first. 0 or -ENOMEM. */
int runs_add(struct runs *runs, const char *name, const struct object *object);

/* To be called at each reading. Where a sample is due, takes one, and sleeps for
 * at most three quarters of the interval and at most 1.2 s. */
void runs_read(struct runs *runs, double interval_s);

/* Takes a sample now, and sleeps for so long, at most 1 s; false: nobody may, or nothing was counted. */
bool runs_sample(struct runs *runs, unsigned us);

/* Is there a sample that still says something? */
bool runs_known(const struct runs *runs);

void runs_done(struct runs *runs);

#endif
