/* SPDX-License-Identifier: MIT */
#ifndef EBPF_RECORDER_H
#define EBPF_RECORDER_H

/* What happened, in the file of events: one for the plugin. Functions that do not start or stop it may be called by
 * any thread at any time, and do not wait for the disk. */

#include "event/event_line.h"

/* Starts the thread that writes. `path` must outlive it. A negative errno: they are not
 * kept. */
int recorder_start(const char *path);

/* Adds an event, unless recorder_start() has not started it. Events that come faster than they can be written are
 * lost, which the log says. */
void recorder_add(const struct event_line *line);

/* Writes what is left and waits for that; not for long if the file does not answer. */
void recorder_stop(void);

#endif
