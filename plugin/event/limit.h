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

/* Of one subject, and what was held back last. */
struct limit_source {
	char subject[SUBJECT_NAME_MAX];
	char text[EVENT_TEXT_MAX];
	uint64_t told_ns; /* when it was told of last, 0: never */
	uint64_t held;    /* that were not told since then */
};

/* How often something may be told: a burst of all subjects together and then once a period, and
 * besides of each subject once a period, however many the others have. Times are of
 * CLOCK_BOOTTIME. */
struct limit {
	unsigned used;        /* of the burst */
	uint64_t credited_ns; /* until when the passing of time has been credited */
	struct limit_source *sources;
	size_t count;
	struct limit_source rest; /* of subjects that found no room among the sources */
};

/* One more of a subject, with this text; true: it may be told, and so many of it were held back
 * before. */
bool limit_pass(struct limit *limit, const char *subject, const char *text, uint64_t now_ns,
		uint64_t *ret_held);

/* May the last of those of a subject that were held back be told now? *ret_held are, with it; until
 * the next call *ret_source says what it was. To be asked again until there is none. */
bool limit_release(struct limit *limit, uint64_t now_ns, const struct limit_source **ret_source,
		   uint64_t *ret_held);

/* When that will be, UINT64_MAX: none is held back. */
uint64_t limit_due(const struct limit *limit);

void limit_done(struct limit *limit);

#endif
