/* SPDX-License-Identifier: MIT */
#ifndef EBPF_UNNAMED_H
#define EBPF_UNNAMED_H

#include "config/name.h"

#include <stdint.h>

struct runtimes;

#define UNNAMED_SHOWN_MAX 5

/* Containers that have their id for a name, since the last message. Of one thread. */
struct unnamed {
	char ids[UNNAMED_SHOWN_MAX][SUBJECT_NAME_MAX]; /* the first ones */
	unsigned count;
	uint64_t logged_ns; /* of the last message, 0: none yet */
};

void unnamed_add(struct unnamed *unnamed, const char *id);

/* Logs the containers, at most once an hour; now_ns of CLOCK_BOOTTIME. */
void unnamed_log(struct unnamed *unnamed, const struct runtimes *runtimes, uint64_t now_ns);

#endif
