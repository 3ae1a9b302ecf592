/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PROBE_MISTAKE_H
#define EBPF_PROBE_MISTAKE_H

#include "config/config.h"
#include "system/message.h"

/* What is wrong with a Probe block whose probe is not there: `names` are those of the probes that are, the last NULL. */
void probe_mistake_missing(struct error *ret_text, const struct probe_config *block,
			   const char *const *names);

/* Tells which options of a block have no effect, and why; false: it has none. */
bool probe_mistake_ignored(int severity, const struct probe_config *block, const char *why);

#endif
