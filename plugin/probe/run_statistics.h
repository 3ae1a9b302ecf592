/* SPDX-License-Identifier: MIT */
#ifndef EBPF_RUN_STATISTICS_H
#define EBPF_RUN_STATISTICS_H

#include "object/object.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUN_NAME_MAX 120 /* of the 128 bytes of a type instance */

struct program_runs {
	char name[RUN_NAME_MAX]; /* OBJECT-PROGRAM, unique */
	int fd;                  /* owned by the object */
	uint64_t count;          /* of the kernel, when it was read last */
	uint64_t time_ns;
	uint64_t marked_count; /* at the start of the sample */
	uint64_t marked_time_ns;
	double rate;   /* per second, in the last sample */
	double mean_s; /* in the last sample in which it ran; 0: there is none */
};

/* The programs of all objects, with their run statistics. */
struct run_statistics {
	struct program_runs *run;
	size_t count;
	uint64_t total;      /* runs of all programs, when they were read last */
	uint64_t due_ns;     /* time of the next sample, CLOCK_BOOTTIME */
	uint64_t sampled_ns; /* time of the last sample; 0: none yet */
};

/* Adds the programs of a loaded object, which must outlive this. If two names are equal after they
 * are cut, only the first program is added. 0 or -ENOMEM. */
int run_statistics_add(struct run_statistics *runs, const char *name, const struct object *object);

/* To be called at each reading. When a sample is due, takes it, and sleeps for at most three
 * quarters of the interval and at most 1.2 s. */
void run_statistics_read(struct run_statistics *runs, double interval_s);

/* Takes a sample of this length, at most 1 s, now. false: it is not permitted, or nothing was
 * counted. */
bool run_statistics_sample(struct run_statistics *runs, unsigned us);

/* Is the last sample recent enough to be used? */
bool run_statistics_is_recent(const struct run_statistics *runs);

void run_statistics_done(struct run_statistics *runs);

#endif
