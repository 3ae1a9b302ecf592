/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SAMPLER_H
#define EBPF_SAMPLER_H

#include "probe.h"
#include "runs.h"
#include "util/pace.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A program with a SAMPLE tag. */
struct sampled {
	char name[RUN_NAME_MAX]; /* PROBE-PROGRAM */
	struct probe *probe;
	const struct sample *sample;
	uint64_t *sample_ns; /* a variable of its object, or NULL */
	struct pace pace;
	uint64_t due_ns;
	uint64_t began_ns; /* the last run, 0: there was none */
	bool failing;
	uint64_t runs, cpu_ns;                    /* of all; atomic: told by another thread */
	uint64_t told_runs, told_cpu_ns, told_ns; /* when they were told last */
};

/* One thread that runs such programs, and takes no lock. */
struct sampler {
	struct sampled *item;
	size_t count;
	pthread_t thread;
	bool running;
	int stop; /* an eventfd: the thread ends when it is readable */
	unsigned short seed[3];
	/* What a run is, and the CPU time of this thread in ns: a test has its own. */
	int (*run)(const struct sample *sample, struct error *error);
	uint64_t (*cpu_ns)(void);
	uint64_t spent_ns; /* CPU time that has been noted */
};

/* Begins, if a probe has such programs. Those of a probe with a budget divide that between them,
 * all others divide percent of one CPU. probes outlive it. A negative errno: nothing is sampled. */
int sampler_start(struct sampler *sampler, struct probe *probes, size_t probe_count,
		  double percent);

/* Ends the thread: at once, or when the run that is under way is over. */
void sampler_stop(struct sampler *sampler);

/* Finds the programs; runs what is due, and tells when the next is. For the thread, and for tests;
 * times are of CLOCK_BOOTTIME. */
int sampler_open(struct sampler *sampler, struct probe *probes, size_t probe_count, double percent);
uint64_t sampler_step(struct sampler *sampler, uint64_t now_ns);

/* What one has done since this was last asked; false: nothing to tell yet. */
struct sampler_figures {
	double hz;
	double mean_s;  /* CPU time of a run; 0: there was none */
	double percent; /* of one CPU */
};
bool sampler_figures(struct sampled *sampled, uint64_t now_ns, struct sampler_figures *ret_figures);

#endif
