/* SPDX-License-Identifier: MIT */
#ifndef EBPF_READING_H
#define EBPF_READING_H

#include "probe.h"
#include "util/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the values of a probe's readings go. daemon/publication.h implements it for collectd, of which this room knows
 * nothing. One for each probe; the calls of a reading come in the order below. */
struct reading_output {
	/* A reading starts. false: the previous one was a moment ago, and this one is skipped. */
	bool (*start)(struct reading_output *output, double interval_s);
	/* The rows were read ago_ns before this call; without it: when the reading started. */
	void (*set_age)(struct reading_output *output, uint64_t ago_ns);
	/* Adds the values of a table that was read. The probe's `reading` is locked, so nothing is handed to receivers
	 * yet. `probe` names the rows that are not of services. */
	void (*add_table)(struct reading_output *output, const struct table *table,
			  const struct snapshot *snapshot, const char *probe,
			  const struct config *config);
	/* Hands on what was added, which may take any time: no lock is held. *ret_series is the number of series with a
	 * value. -ENOMEM: nothing was handed on. */
	int (*finish)(struct reading_output *output, size_t *ret_series);
	/* The reading has failed: the next one may start at any time. */
	void (*reset)(struct reading_output *output);
};

/* Runs the iterators of a probe that is open, and sees to a walk over tasks that is at most half an
 * interval old, if it takes part in that; none begins before reading_end_walk(), which is due
 * where this returns 0. Errors of object_walk(). */
int reading_walk(struct probe *probe, double interval_s, struct error *error);
void reading_end_walk(struct probe *probe);

/* Makes the probe a subscriber of services, if its tables are about them; -ENOMEM. */
int reading_subscribe(struct probe *probe, struct error *error);
void reading_unsubscribe(struct probe *probe);

/* Runs the iterators, reads the tables and dispatches; errors of object_walk() and table_read(),
 * after which it may be tried again. Probes may be read at the same time, each by one thread. */
int probe_read(struct probe *probe, struct reading_output *output, struct error *error);

/* Says what of text files cannot be read, unless it was said before. */
void reading_tell_troubles(struct probe *probe);

#endif
