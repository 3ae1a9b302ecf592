/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SAMPLER_H
#define EBPF_SAMPLER_H

#include "probe.h"
#include "run_statistics.h"
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
	uint64_t *sample_ns;   /* a variable of its object, or NULL */
	double probe_fraction; /* of a CPU, for all samplers of the probe */
	struct pace pace;
	uint64_t due_ns;
	uint64_t began_ns; /* start of the last run; 0: there was none */
	bool failing;
	uint64_t runs, cpu_ns; /* totals; atomic, as another thread reads them */
	uint64_t reported_runs, reported_cpu_ns, reported_ns; /* at the last sampler_figures() */
};

/* A thread that runs such programs. It takes no lock. */
struct sampler {
	struct sampled *item;
	size_t count;
	pthread_t thread;
	bool running;
	int stop; /* an eventfd; the thread exits when it is readable */
	unsigned short seed[3];
	/* Runs a program; CPU time of this thread in ns. A test replaces them. */
	int (*run)(const struct sample *sample, struct error *error);
	uint64_t (*cpu_ns)(void);
	uint64_t spent_ns; /* CPU time accounted so far */
};

/* Starts the thread if a probe has such programs. The probes without a budget divide `percent` of
 * one CPU; within a probe the first program is served first. probes must outlive it. A negative
 * errno: nothing is sampled. */
int sampler_start(struct sampler *sampler, struct probe *probes, size_t probe_count,
		  double percent);

/* Stops the thread, after a run in progress. */
void sampler_stop(struct sampler *sampler);

/* sampler_open() finds the programs. sampler_step() runs those that are due, and returns when the
 * next one is. Called by the thread and by tests; times are of CLOCK_BOOTTIME. */
int sampler_open(struct sampler *sampler, struct probe *probes, size_t probe_count, double percent);
uint64_t sampler_step(struct sampler *sampler, uint64_t now_ns);

/* What one sampler has done since the last call. false: this is the first call. */
struct sampler_figures {
	double hz;
	double mean_s;  /* CPU time of a run; 0: there was none */
	double percent; /* of one CPU */
};
bool sampler_figures(struct sampled *sampled, uint64_t now_ns, struct sampler_figures *ret_figures);

#endif
