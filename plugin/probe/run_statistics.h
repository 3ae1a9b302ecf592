/* SPDX-License-Identifier: MIT */
#ifndef EBPF_RUN_STATISTICS_H
#define EBPF_RUN_STATISTICS_H

#include "object/object.h"

#include <pthread.h>
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

/* The programs of all objects, with their run statistics. One thread takes the samples. */
struct run_statistics {
	pthread_mutex_t lock; /* of rate and mean_s, which other threads read */
	struct program_runs *run;
	size_t count;
	unsigned short seed[3];
	uint64_t total;      /* runs of all programs, when they were read last */
	uint64_t due_ns;     /* start or end of the next sample, CLOCK_BOOTTIME; 0: not known yet */
	uint64_t began_ns;   /* start of the sample in progress; 0: none */
	bool has_others;     /* somebody else had the statistics on at its start */
	int own;             /* the descriptor that keeps them on; -1: none */
	uint64_t sampled_ns; /* end of the last sample; 0: none yet; atomic */
};

/* Without programs. now_ns: any time. */
void run_statistics_init(struct run_statistics *ret_runs, uint64_t now_ns);

/* Adds the programs of a loaded object, which must outlive this. If two names are equal after they
 * are cut, only the first program is added. 0 or -ENOMEM. */
int run_statistics_add(struct run_statistics *runs, const char *name, const struct object *object);

/* Starts or ends a sample if that is due, now_ns of CLOCK_BOOTTIME. The first one is within a second,
 * the others minutes apart; each lasts at most a fifth of a second and a quarter of the interval.
 * Returns when it must be called again. */
uint64_t run_statistics_step(struct run_statistics *runs, double interval_s, uint64_t now_ns);

/* Takes a sample of this length, at most 1 s, now, and sleeps meanwhile. false: it is not permitted, or
 * nothing was counted. */
bool run_statistics_sample(struct run_statistics *runs, unsigned us);

/* A copy of one program's; any thread. */
struct program_runs run_statistics_of(struct run_statistics *runs, size_t i);

/* Is the last sample recent enough to be used? */
bool run_statistics_is_recent(const struct run_statistics *runs);

void run_statistics_done(struct run_statistics *runs);

#endif
