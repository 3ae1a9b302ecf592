/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TRIGGER_H
#define EBPF_TRIGGER_H

/* Profiles that notifications start. */

#include "service/subject.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIGGER_SERVICES_MAX 256 /* in ten minutes */

/* Each service has at most one profile in ten minutes. Times are of CLOCK_BOOTTIME. */
struct trigger {
	uint64_t length_ns; /* of a profile */
	struct triggered {
		char service[SUBJECT_NAME_MAX];
		uint64_t began_ns;
	} triggered[TRIGGER_SERVICES_MAX];
	size_t count;
};

/* Starts a profile; false: the service has had one, or too many others have. */
bool trigger_start(struct trigger *trigger, const char *service, uint64_t now_ns);

/* Is a profile of this service running? */
bool trigger_has(const struct trigger *trigger, const char *service, uint64_t now_ns);

/* Is any profile running? */
bool trigger_any(const struct trigger *trigger, uint64_t now_ns);

#endif
