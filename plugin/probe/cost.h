/* SPDX-License-Identifier: MIT */
#ifndef EBPF_COST_H
#define EBPF_COST_H

#include "probe.h"
#include "run_statistics.h"

#include <stdbool.h>
#include <stdint.h>

/* Counters of a probe at one time. */
struct cost_mark {
	uint64_t time_ns; /* of CLOCK_BOOTTIME; 0: the counters are unknown */
	uint64_t runs[RUN_COUNTERS_MAX];
	uint64_t sampled_ns;
};

/* Growth since a mark, per second. */
struct cost {
	double runs[RUN_COUNTERS_MAX];
	double other_ns; /* CPU time of samplers and of readings, each like the last one */
};

/* Reads the counters of an open probe. */
void cost_mark(struct cost_mark *ret_mark, const struct probe *probe, uint64_t now_ns);

/* Returns the growth since the mark, and marks again. false: there was no mark, or no time has
 * passed. */
bool cost_since(struct cost_mark *mark, const struct probe *probe, uint64_t now_ns,
		struct cost *ret_cost);

/* The same for one function of the probe that has a limit of its own. `function` is its index. All
 * of the cost is in other_ns. */
void cost_mark_function(struct cost_mark *ret_mark, const struct probe *probe, uint32_t function,
			uint64_t now_ns);
bool cost_since_function(struct cost_mark *mark, const struct probe *probe, uint32_t function,
			 uint64_t now_ns, struct cost *ret_cost);

/* The cost in percent of the time of all online CPUs, by what is known now about the time of a run.
 * NAN: how often its programs run is unknown. */
double cost_percent(const struct cost *cost, const struct probe *probe);

/* Passes a sample of run statistics to the probe's programs. */
void cost_note(struct probe *probe, const struct run_statistics *runs);

/* Takes such a sample of the probe's programs, which sleeps for a tenth of a second, where that is
 * permitted. */
void cost_sample(struct probe *probe);

#endif
