/* SPDX-License-Identifier: MIT */
#ifndef EBPF_RULE_H
#define EBPF_RULE_H

#include "config/config.h"
#include "object/object.h"
#include "util/message.h"

#include <stdbool.h>
#include <stdint.h>

/* Options of a Service block that say which processes are in it. */
enum rule_kind {
	RULE_PROCESS,
	RULE_MATCH,
	RULE_UNIT,
	RULE_CONTAINER,
	RULE_CGROUP,
	RULE_PID_FILE,
	RULE_KINDS
};

/* What a Service block asks for, handed to the kernel. The row of the service at
 * config->services[i] is SERVICE_FIRST + i. */

/* Sizes the rules' maps, before load; what libbpf says. */
int rules_prepare(const struct config *config, struct object *object, struct error *error);

/* Fills the rules' maps, after load and before attach; -ENAMETOOLONG: a directory of a cgroup's
 * path is too long, or what the kernel says. */
int rules_fill(const struct config *config, struct object *object, struct error *error);

/* Has the kernel met a process that this line fits, of those kinds that it follows alone? */
bool rule_has_fitted(const struct object *object, enum rule_kind kind, const char *text);

/* Can this kernel tell units, containers and cgroups apart? */
bool rules_know_groups(void);

#endif
