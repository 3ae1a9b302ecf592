/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PROBE_MISTAKE_H
#define EBPF_PROBE_MISTAKE_H

#include "config/config.h"
#include "object/object.h"
#include "util/message.h"

/* Writes what is wrong with a Probe block whose probe does not exist. `names` are those that do;
 * the last one is NULL. */
void probe_mistake_missing(struct error *ret_text, const struct probe_config *block,
			   const char *const *names);

/* Logs that an object was built with another version of the plugin, unless that is `logged`: what is
 * true of one object is of others, too. */
void probe_mistake_version(const struct object *object, const char *path, bool *logged);

/* Logs the options of a block that have no effect, because it has Enable false, too. */
void probe_mistake_disabled(const struct probe_config *block);

/* Probes that are off by default and that nobody asks for, for one message. collectd cuts longer
 * ones. */
struct off_by_default {
	char names[900];
};

/* Logs that a probe is off by default, why, and which options of its block have no effect. Without
 * a block (NULL) it is added to `off`, which is logged if it is full. */
void probe_mistake_not_enabled(struct off_by_default *off, const char *probe,
			       const struct probe_config *block, const char *why);

/* Logs and empties it. */
void probe_mistake_off_by_default(struct off_by_default *off);

#endif
