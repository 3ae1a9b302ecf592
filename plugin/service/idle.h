/* SPDX-License-Identifier: MIT */
#ifndef EBPF_IDLE_H
#define EBPF_IDLE_H

#include "object/mapping.h"
#include "object/object.h"
#include "util/kernel_directory.h"
#include "util/message.h"

#include <stddef.h>
#include <stdint.h>

/* How long each CPU was idle between the last two reads of /proc/stat, for programs: bpf/lib/cpu_idle.h. */
struct idle {
	struct mapping mapping;
	struct kernel_text text;
	uint32_t count;      /* of entries */
	uint64_t *before_ns; /* idle since boot, at the last read; UINT64_MAX: it was offline */
	uint64_t read_ns;    /* time of the last read, 0: none yet */
	int fd; /* of /proc/stat, below 0: it cannot be read; valid only if before_ns is set */
};

/* Sizes the map, before load. */
int idle_prepare(const struct object *own, struct error *error);

int idle_open(struct idle *idle, const struct object *own, struct error *error);

/* Reads /proc/stat; if that fails all CPUs count as offline. */
void idle_read(struct idle *idle);

/* Parses the text of /proc/stat, read at now_ns; the text may be malformed. */
void idle_parse(struct idle *idle, const char *text, size_t length, uint64_t now_ns);

void idle_done(struct idle *idle);

#endif
