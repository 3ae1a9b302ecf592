/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PROBE_MISTAKE_H
#define EBPF_PROBE_MISTAKE_H

#include "config/config.h"
#include "util/message.h"

/* Writes what is wrong with a Probe block whose probe does not exist. `names` are those that do;
 * the last one is NULL. */
void probe_mistake_missing(struct error *ret_text, const struct probe_config *block,
			   const char *const *names);

/* Logs the options of a block that have no effect, because it has Enable false, too. */
void probe_mistake_disabled(const struct probe_config *block);

/* Logs that a probe is off by default, why, and which options of its block (NULL: it has none) have
 * no effect. */
void probe_mistake_not_enabled(const char *probe, const struct probe_config *block,
			       const char *why);

#endif
