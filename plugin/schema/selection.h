/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SELECTION_H
#define EBPF_SELECTION_H

#include "config/config.h"
#include "schema.h"

#include <stdbool.h>

/* In Collect, stands for all metrics that are on by default. */
#define SELECTION_DEFAULT "default"

/* Which metrics of a probe are collected. All zero: those that are on by default. */
struct selection {
	const struct config *config;   /* has the percentiles that exist; NULL: none */
	const struct strings *collect; /* globs; NULL: none */
	const struct strings *ignore;
	bool chooses; /* a glob of `collect` matches: only matching metrics are collected */
	const struct strings *options; /* of the Probe block; NULL: none */
};

/* Does a glob of Collect or Ignore match this metric, or one of its series? */
bool selection_fits(const char *glob, const struct schema *schema, const struct metric *metric,
		    const struct config *config);

/* Writes the name of a metric as people write it: TYPE[-INSTANCE], followed by "-*" for labels.
 * `to` has SERIES_NAME_MAX bytes. */
void selection_name(char *to, const struct schema *schema, const struct metric *metric);

/* Reduces a schema, with its subject and labels set, to the metrics that are collected and the
 * columns that they need or that decide which services and processes have series. If no metric is
 * collected, no column stays. -ENOMEM. */
int selection_apply(const struct selection *selection, struct schema *schema);

#endif
