/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PROBE_MISTAKE_H
#define EBPF_PROBE_MISTAKE_H

#include "config/config.h"
#include "util/message.h"

/* What is wrong with a Probe block whose probe is not there: `names` are those of the probes that are, the last NULL. */
void probe_mistake_missing(struct error *ret_text, const struct probe_config *block,
			   const char *const *names);

/* Tells which options of a block have no effect, as it has Enable false, too. */
void probe_mistake_disabled(const struct probe_config *block);

/* Tells that a probe is off by default, why, and which options of its block (NULL: it has none) have no effect. */
void probe_mistake_not_enabled(const char *probe, const struct probe_config *block,
			       const char *why);

#endif
