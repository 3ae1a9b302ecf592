/* SPDX-License-Identifier: MIT */
#ifndef EBPF_RESOLVE_H
#define EBPF_RESOLVE_H

#include "cgroup_rule.h"
#include "config/config.h"
#include "fit.h"
#include "helper/file.h"
#include "object/object.h"
#include "pidfile.h"
#include "quota.h"
#include "util/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct free_rows;
struct name_tables;
struct service;
struct service_counters;

/* Assigns processes to services where the kernel cannot do it without files. The caller owns what it works with, and
 * sets it before resolver_start(). One thread works with it: the one that starts the plugin, and after that upkeep. */
struct resolver {
	const struct config *config;
	struct object *object; /* the engine's own */
	struct service_counters *counters;
	const struct free_rows *free_rows; /* atomic */
	const struct service *rows;        /* the kernel's */
	uint32_t row_count;
	struct file_helper *files;
	struct name_tables *names;
	struct pid_files pid_files;
	struct cgroup_rules cgroup_rules;
	struct fits fits;
	bool has_run;               /* since resolver_log_fits() */
	uint64_t unclassified_seen; /* of counters->unclassified */
	uint64_t refused_seen;      /* of counters->refused */
	uint64_t no_room_seen;      /* of counters->no_room */
	uint64_t no_room_logged_ns;
	bool lacked_room;     /* some processes had no row at the last run */
	struct quotas quotas; /* of users, for inspections */
	bool unfinished;      /* some processes were not inspected, or not moved */
	bool failing;
};

/* After the engine's object is attached: classifies the processes that run already. -ENOMEM, or an error of
 * scan_run(). */
int resolver_start(struct resolver *resolver, struct error *error);

/* Classifies processes that were refused before, gives rows to those that wait for one, inspects new processes and
 * has the kernel move them to their services. Three look-ups if nothing has changed. Without the lock of services. */
void resolver_run(struct resolver *resolver, uint64_t now_ns);

/* Has the last run left processes or cgroups for the next one? */
bool resolver_is_unfinished(const struct resolver *resolver);

/* Once an interval: logs the lines that fit no process. */
void resolver_log_fits(struct resolver *resolver);

void resolver_done(struct resolver *resolver);

/* Replaces the NULs between the arguments of a command line of /proc by spaces, in place. */
void command_line_join(char *line, size_t size);

#endif
