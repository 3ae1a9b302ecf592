/* SPDX-License-Identifier: MIT */
#ifndef EBPF_LIMIT_H
#define EBPF_LIMIT_H

#include "event.h"
#include "service/subject.h"
#include "util/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIMIT_BURST 10
#define LIMIT_PERIOD_NS (60 * NS_PER_S)
#define LIMIT_SOURCES_MAX 256

/* Of a subject: what was suppressed last. */
struct limit_source {
	char subject[SUBJECT_NAME_MAX];
	char text[EVENT_TEXT_MAX];
	uint64_t sent_ns;    /* when something was sent about it last; 0: never */
	uint64_t suppressed; /* events suppressed since then */
};

/* How often something is sent: about all subjects together a burst, and after that once a period;
 * in addition, about each subject once a period, whatever the others do. Times are of
 * CLOCK_BOOTTIME. */
struct limit {
	unsigned used;        /* of the burst */
	uint64_t credited_ns; /* up to when elapsed periods have been credited */
	struct limit_source *sources;
	size_t count;
	struct limit_source common; /* the common one, of subjects without an entry */
};

/* An event about a subject, with this text. true: it is to be sent; *ret_suppressed is how many were
 * suppressed before it. */
bool limit_pass(struct limit *limit, const char *subject, const char *text, uint64_t now_ns,
		uint64_t *ret_suppressed);

/* Returns a subject whose last suppressed event is to be sent now. *ret_suppressed is how many were
 * suppressed, that one included. *ret_source is valid until the next call. To be called until it
 * returns false. */
bool limit_release(struct limit *limit, uint64_t now_ns, const struct limit_source **ret_source,
		   uint64_t *ret_suppressed);

/* When limit_release() returns something next; UINT64_MAX: nothing is suppressed. */
uint64_t limit_due(const struct limit *limit);

void limit_done(struct limit *limit);

#endif
