/* SPDX-License-Identifier: MIT */
#ifndef EBPF_READING_H
#define EBPF_READING_H

#include "probe.h"
#include "util/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the values of a probe's readings go. daemon/publication.h implements it for collectd, which
 * this room does not know. Each probe has its own; a reading makes the calls in this order. */
struct reading_output {
	/* Starts a reading. false: it is too close to the previous one, and is skipped. */
	bool (*start)(struct reading_output *output, double interval_s);
	/* The rows were read ago_ns before this call. Without the call: when the reading
	 * started. */
	void (*set_age)(struct reading_output *output, uint64_t ago_ns);
	/* Adds the values of a table that was read. The probe's `reading` is locked, so nothing is
	 * handed to receivers yet. `probe` names the rows that are not about services. */
	void (*add_table)(struct reading_output *output, const struct table *table,
			  const struct snapshot *snapshot, const char *probe,
			  const struct config *config);
	/* Hands on what was added. No lock is held, as this may take any time. *ret_series: series
	 * with a value. -ENOMEM: nothing was handed on. */
	int (*finish)(struct reading_output *output, size_t *ret_series);
	/* The reading failed: the next one may start at any time. */
	void (*reset)(struct reading_output *output);
};

/* Runs the iterators of an open probe. If it takes part in the walk over tasks, sees to it that one
 * is at most half an interval old. If this returns 0, no other walk starts before
 * reading_end_walk(), which must follow. Errors of object_walk(). */
int reading_walk(struct probe *probe, double interval_s, struct error *error);
void reading_end_walk(struct probe *probe);

/* Makes the probe a subscriber of services if it reads rows of services. -ENOMEM. */
int reading_subscribe(struct probe *probe, struct error *error);
void reading_unsubscribe(struct probe *probe);

/* Runs the iterators, reads the tables and dispatches the values. Errors of object_walk() and
 * table_read(), after which it may be called again. Several probes may be read at the same time,
 * each by one thread. */
int probe_read(struct probe *probe, struct reading_output *output, struct error *error);

/* Logs which text files cannot be read, each trouble once. */
void reading_log_troubles(struct probe *probe);

#endif
