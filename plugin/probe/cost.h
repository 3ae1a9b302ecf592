/* SPDX-License-Identifier: MIT */
#ifndef EBPF_COST_H
#define EBPF_COST_H

#include "probe.h"
#include "runs.h"

#include <stdbool.h>
#include <stdint.h>

/* How far a probe had come when it was looked at. */
struct cost_mark {
	uint64_t time_ns; /* of CLOCK_BOOTTIME, 0: it was not */
	uint64_t runs[HOT_PROGRAMS_MAX];
	uint64_t sampled_ns;
};

/* What it did since then, a second. */
struct cost {
	double runs[HOT_PROGRAMS_MAX];
	double other_ns; /* CPU time of its samplers and readings, each of these as the last one was */
};

/* Marks a probe that is open, as it is now. */
void cost_mark(struct cost_mark *ret_mark, const struct probe *probe, uint64_t now_ns);

/* What the probe has done since it was marked; marks it again. false: there was no mark, or no time
 * since. */
bool cost_since(struct cost_mark *mark, const struct probe *probe, uint64_t now_ns,
		struct cost *ret_cost);

/* The same of one function of the probe that has a limit of its own, by its number. The cost is all in
 * other_ns. */
void cost_mark_function(struct cost_mark *ret_mark, const struct probe *probe, uint32_t function,
			uint64_t now_ns);
bool cost_since_function(struct cost_mark *mark, const struct probe *probe, uint32_t function,
			 uint64_t now_ns, struct cost *ret_cost);

/* What that costs, as far as is known now, in percent of the time of all CPUs that are online; NAN:
 * it is not known how often its programs run. */
double cost_percent(const struct cost *cost, const struct probe *probe);

/* What a sample of run statistics says of programs of the probe. */
void cost_note(struct probe *probe, const struct runs *runs);

/* Takes a sample of these now, for a tenth of a second, where that is allowed. */
void cost_sample(struct probe *probe);

#endif
