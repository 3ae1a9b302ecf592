/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FIT_H
#define EBPF_FIT_H

#include "cgroup/description.h"
#include "config/config.h"
#include "object/object.h"
#include "pidfile.h"
#include "rule.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line of a Service block that says which processes are in it. */
struct fit {
	const struct service_config *service;
	uint32_t row; /* of the service */
	enum rule_kind kind;
	const char *text;
	const struct regex *regex; /* of RULE_MATCH */
	bool fitted;               /* a process, since the start */
	bool logged;               /* that it has fitted none: logged */
};

struct fits {
	struct fit *item;
	size_t count;
	unsigned readings; /* so far, at most FITS_READINGS */
};

#define FITS_READINGS 10 /* a line that has fitted no process in so many readings is logged */

/* The lines of all Service blocks, in order; their strings stay the configuration's. -ENOMEM. */
int fits_init(struct fits *fits, const struct config *config);

/* The row of the first service whose ProcessMatch fits a command line, or 0. */
uint32_t fits_line(struct fits *fits, const char *line);

/* Notes that a process is in this unit, of this user, or in this container. */
void fits_group(struct fits *fits, const struct group_key *key,
		const struct group_description *description);

/* After a reading in which all processes were inspected. Logs once each line that has fitted no process so
 * far, and each logged line that fits one later. */
void fits_log(struct fits *fits, const struct object *object, const struct pid_files *pid_files);

void fits_done(struct fits *fits);

#endif
