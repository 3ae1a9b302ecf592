/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SELECTION_H
#define EBPF_SELECTION_H

#include "config/config.h"
#include "schema.h"

#include <stdbool.h>

/* Stands in Collect for all that is on by default. */
#define SELECTION_DEFAULT "default"

/* Which metrics of a probe are collected, and by what. All zero: what is on by default. */
struct selection {
	const struct config *config;   /* whose percentiles there are; NULL: none */
	const struct strings *collect; /* patterns; NULL: none */
	const struct strings *ignore;
	bool chooses; /* something is there that a pattern of collect fits: that is collected alone */
	const struct strings *options; /* of the Probe block; NULL: none */
};

/* Fits a pattern of Collect or Ignore this metric, or one of its series? */
bool selection_fits(const char *pattern, const struct schema *schema, const struct metric *metric,
		    const struct config *config);

/* What people call a metric: TYPE[-INSTANCE], and for labels behind it "-*". `to` has
 * SERIES_NAME_MAX bytes. */
void selection_name(char *to, const struct schema *schema, const struct metric *metric);

/* Leaves of a schema, with its subject and labels, the metrics that are collected, and of the columns those
 * that they need, or that decide which services and processes have series. Of no metric none is left.
 * -ENOMEM. */
int selection_apply(const struct selection *selection, struct schema *schema);

#endif
