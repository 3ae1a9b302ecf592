/* SPDX-License-Identifier: MIT */
#ifndef EBPF_RESTART_H
#define EBPF_RESTART_H

#include "subject.h"
#include "util/allowance.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A service whose processes were all replaced, or that has processes again. */
struct restart {
	char service[SUBJECT_NAME_MAX];
	uint64_t time_ns;    /* when; 0: there is none */
	uint64_t without_ns; /* for about how long it had no processes before */
};

/* The processes that a service has, or had last. */
struct generation {
	char service[SUBJECT_NAME_MAX];
	uint64_t known_ns; /* rows that got processes later are of the next generation */
	uint64_t began_ns; /* as that of the subject */
	uint64_t seen_ns;  /* when it last had processes */
	struct allowance allowance;
	struct restart restart; /* to be claimed */
};

/* Services that were restarted or deployed. A restart counts if the processes before had lived for six intervals, and at most
 * six times an hour for each service. Where new processes join old ones in a row, there is no restart. Times are of
 * CLOCK_BOOTTIME. */
struct restarts {
	struct generation *generation;
	size_t count;
};

struct lifecycle;

/* Compares the services with those at the last call, after each lifecycle_refresh(). Without memory, new services are not
 * compared. */
void restarts_update(struct restarts *restarts, struct lifecycle *lifecycle, uint64_t now_ns);

/* Claims a restart; false: there is none. */
bool restarts_claim(struct restarts *restarts, struct restart *ret_restart);

void restarts_done(struct restarts *restarts);

#endif
