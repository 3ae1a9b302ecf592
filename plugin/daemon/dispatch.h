/* SPDX-License-Identifier: MIT */
#ifndef EBPF_DISPATCH_H
#define EBPF_DISPATCH_H

#include "batch.h"
#include "schema/schema.h"
#include "util/health.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct notification_s;

/* The time and interval of all values of a reading. */
struct dispatch {
	uint64_t time;       /* cdtime_t */
	uint64_t interval;   /* cdtime_t */
	uint64_t previous;   /* time of the previous reading; cdtime_t */
	struct batch *batch; /* waits for dispatch_batch(); NULL: dispatch at once */
};

/* Starts a reading. false: it is too close to the previous one and is to be skipped. *dispatch is
 * zero before the first reading. */
bool dispatch_begin(struct dispatch *dispatch, double interval_s);

/* Sets the time of the values to ago_ns before now. Without this call it is the time when the
 * reading started, which is wrong where the reading had to wait for a CPU or used the walk of
 * another probe. */
void dispatch_set_age(struct dispatch *dispatch, uint64_t ago_ns);

/* Hands a value list to collectd, or to the batch. `subject` becomes the plugin instance;
 * `instance` may be empty. */
void dispatch_values(const struct dispatch *dispatch, const char *subject, const char *type,
		     const char *instance, const struct value *values, size_t count);

/* The same for the values that a new series had at the previous reading. Does nothing where the
 * time of that is unknown. dispatch_batch() hands these on first. */
void dispatch_previous(const struct dispatch *dispatch, const char *subject, const char *type,
		       const char *instance, const struct value *values, size_t count);

void dispatch_gauge(const struct dispatch *dispatch, const char *subject, const char *type,
		    const char *instance, double gauge);

/* Hands the batch to collectd, empties it and clears dispatch->batch. No lock may be held: this
 * takes as long as the receivers do. -ENOMEM: an item was lost, and nothing is handed on. */
int dispatch_batch(struct dispatch *dispatch);

/* Hands a notification about the series of this name to collectd, and keeps it as an event of this
 * kind. No lock may be held: receivers are called at once. A text longer than collectd's is cut. */
void dispatch_notification(const char *kind, enum health health, const char *subject,
			   const char *type, const char *instance, const char *text);

/* Keeps an event about a subject that nobody is notified of. ago_ns: how long ago it was. */
void dispatch_event(const char *kind, enum health health, const char *subject, const char *text,
		    uint64_t ago_ns);

/* Keeps a notification as an event of this kind. */
void dispatch_record(const char *kind, const struct notification_s *notification);

/* A type_lookup in the daemon's types.db. -ENOENT, or -E2BIG: the type has too many data
 * sources. */
int dispatch_type(const char *type, struct metric_type *ret_type);

/* The same, except that a type which is not there as in the stock types.db becomes a lacking one:
 * ret_type is the stock type, or has no data source where that is unknown, and its values are no
 * longer dispatched. -ENOENT: too many are lacking. */
int dispatch_type_or_stock(const char *type, struct metric_type *ret_type);

#endif
