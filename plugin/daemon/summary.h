/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SUMMARY_H
#define EBPF_SUMMARY_H

#include "probe/probe.h"
#include "service/service.h"

#include <stdbool.h>
#include <stddef.h>

/* Logs how many services and series there are, once each running probe has dispatched the figures
 * of an interval. Returns whether it was logged. No lock may be held. */
bool summary_log(struct services *services, const struct probe *probes, size_t probe_count);

#endif
