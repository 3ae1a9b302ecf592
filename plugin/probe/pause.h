/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PAUSE_H
#define EBPF_PAUSE_H

#include "probe.h"
#include "util/message.h"

/* One thread pauses and resumes: the one that starts the plugin, and after that upkeep. */

/* What its programs have started to measure until now is never finished: they compare start times with
 * `attached_ns`. For a probe that has just been attached, as not all of its programs saw what came
 * meanwhile. */
void probe_void_state(struct probe *probe);

/* Detaches an open probe. Its programs, maps and rows stay. It is not read from its next reading on,
 * and its samplers do not run. Iterators that take part in the walk of all probes still run. */
void probe_pause(struct probe *probe);

/* Attaches it again. The next reading dispatches nothing: it takes in what was counted before the
 * pause. Errors of attach_again(), after which the probe is still paused. */
int probe_resume(struct probe *probe, struct error *error);

/* The same for one of its functions that has a limit of its own. `function` is its index. The other
 * functions go on. */
void probe_pause_function(struct probe *probe, uint32_t function);

/* A negative errno: it is still paused. */
int probe_resume_function(struct probe *probe, uint32_t function, struct error *error);

#endif
