/* SPDX-License-Identifier: MIT */
#ifndef EBPF_DISPATCH_H
#define EBPF_DISPATCH_H

#include "batch.h"
#include "schema/schema.h"
#include "util/health.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The time and interval that all values of one reading share. */
struct dispatch {
	uint64_t time;       /* cdtime_t */
	uint64_t interval;   /* cdtime_t */
	uint64_t previous;   /* the time of the reading before; cdtime_t */
	struct batch *batch; /* where values wait for dispatch_batch(), NULL: they do not */
};

/* A reading begins now; false: the last one of this dispatch has just been, so
 * there is nothing to tell. It was zero before the first. */
bool dispatch_begin(struct dispatch *dispatch, double interval_s);

/* What it hands on was read so long ago, and not when the reading began, which may have had to
 * wait for a CPU since, or uses a walk of another's. */
void dispatch_read(struct dispatch *dispatch, uint64_t ago_ns);

/* Hands one value list to collectd, or to the batch; subject becomes the plugin instance,
 * instance may be empty. */
void dispatch_values(const struct dispatch *dispatch, const char *subject, const char *type,
		     const char *instance, const struct value *values, size_t count);

/* Likewise, of values that a new series had at the reading before; nothing where that is not known. Of a
 * batch they are handed on first. */
void dispatch_previous(const struct dispatch *dispatch, const char *subject, const char *type,
		       const char *instance, const struct value *values, size_t count);

void dispatch_gauge(const struct dispatch *dispatch, const char *subject, const char *type,
		    const char *instance, double gauge);

/* Hands what waits to collectd; with no lock held, as this may take any time. -ENOMEM: there was no
 * memory for all of it, and none is handed on. */
int dispatch_batch(struct dispatch *dispatch);

/* Hands a notification to collectd, about the series of this name. With no lock held: whoever
 * gets it is called at once. A text that is longer than collectd's is cut. */
void dispatch_notification(enum health health, const char *subject, const char *type,
			   const char *instance, const char *text);

/* types.db, by way of the daemon. */
int dispatch_type(const char *type, struct metric_type *ret_type);

#endif
