/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SUMMARY_H
#define EBPF_SUMMARY_H

#include "probe/probe.h"
#include "service/service.h"

#include <stdbool.h>
#include <stddef.h>

/* Tells in the log how many services and series there are, when each probe that runs has dispatched
 * the figures of an interval. Returns whether it has; with no lock held. */
bool summary_tell(struct services *services, const struct probe *probes, size_t probe_count);

#endif
