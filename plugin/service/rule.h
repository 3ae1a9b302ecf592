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

/* The rules of Service blocks that the kernel applies, as maps. The service config->services[i] has the row
 * SERVICE_FIRST + i. */

/* Sizes the maps of the rules, before load; errors of libbpf. */
int rules_prepare(const struct config *config, struct object *object, struct error *error);

/* Fills the maps of the rules, after load and before attach. -ENAMETOOLONG: a directory in the path of a
 * Cgroup option is too long; or an error of bpf(2). */
int rules_fill(const struct config *config, struct object *object, struct error *error);

/* Has the kernel found a process that this line fits? Only for the kinds that it matches itself. */
bool rule_has_fitted(const struct object *object, enum rule_kind kind, const char *text);

/* Can this kernel distinguish units, containers and cgroups? */
bool rules_know_groups(void);

#endif
