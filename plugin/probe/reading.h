/* SPDX-License-Identifier: MIT */
#ifndef EBPF_READING_H
#define EBPF_READING_H

#include "probe.h"
#include "util/message.h"

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
int probe_read(struct probe *probe, struct error *error);

/* Says what of text files cannot be read, unless it was said before. */
void reading_tell_troubles(struct probe *probe);

#endif
