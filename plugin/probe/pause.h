/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PAUSE_H
#define EBPF_PAUSE_H

#include "probe.h"
#include "util/message.h"

/* Detaches a probe that is open. Its programs, maps and rows stay; it is not read, and its samplers do
 * not run. Iterators that take part in the walk of all probes are called as before. Waits for a
 * reading that is under way. */
void probe_pause(struct probe *probe);

/* Attaches it again. The first reading after that tells nothing: it catches up with what came before
 * the pause. Errors of attach_again(), after which the probe is paused still. */
int probe_resume(struct probe *probe, struct error *error);

/* The same of one of its functions that has a limit of its own, by its number: the others go on. */
void probe_pause_function(struct probe *probe, uint32_t function);

/* -errno: it is paused still. */
int probe_resume_function(struct probe *probe, uint32_t function, struct error *error);

#endif
