/* SPDX-License-Identifier: MIT */
#ifndef EBPF_RESOLVE_H
#define EBPF_RESOLVE_H

#include "config/config.h"
#include "fit.h"
#include "group_rule.h"
#include "helper/file.h"
#include "object/object.h"
#include "pidfile.h"
#include "turn.h"
#include "util/message.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct free_rows;
struct name_tables;
struct service_counters;

/* Which processes are of which service, as far as the kernel cannot tell alone. What it works with
 * stays the caller's, who sets it before resolver_start(). */
struct resolver {
	pthread_mutex_t lock; /* never held together with that of services */
	const struct config *config;
	struct object *object; /* the engine's own */
	struct service_counters *counters;
	const struct free_rows *free_rows; /* atomic */
	struct file_reader *files;
	struct name_tables *names;
	struct pid_files pid_files;
	struct group_rules group_rules;
	struct fits fits;
	bool has_run;               /* since fits were told of last */
	uint64_t unclassified_seen; /* of counters->unclassified */
	uint64_t refused_seen;      /* of counters->refused */
	uint64_t no_room_seen;      /* of counters->no_room */
	uint64_t no_room_told_ns;
	struct turns turns; /* of users, at being looked at */
	bool unfinished;    /* some processes were not looked at, or not moved */
	bool failing;
};

/* After the engine's object is attached: meets the processes that ran before. -ENOMEM, or what the
 * kernel says. */
int resolver_start(struct resolver *resolver, struct error *error);

/* Meets those that were refused before, gives rows to those that waited for one,
 * looks at the processes that are new and has the kernel move those that are of
 * another service. Costs three look-ups where nothing has changed. With the lock of the resolver,
 * without that of services. */
void resolver_run(struct resolver *resolver, uint64_t now_ns);

/* Once an interval: tells what fits no process. With the lock, too. */
void resolver_tell_fits(struct resolver *resolver);

void resolver_done(struct resolver *resolver);

/* Puts spaces between the words of a command line as /proc has it, in place. */
void command_line_join(char *line, size_t size);

#endif
