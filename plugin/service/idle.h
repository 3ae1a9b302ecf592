/* SPDX-License-Identifier: MIT */
#ifndef EBPF_IDLE_H
#define EBPF_IDLE_H

#include "object/mapping.h"
#include "object/object.h"
#include "util/message.h"
#include "util/pseudo_file.h"

#include <stddef.h>
#include <stdint.h>

/* How long each CPU was idle between two looks, for programs: bpf/lib/cpu_idle.h. */
struct idle {
	struct mapping mapping;
	struct pseudo_text text;
	uint32_t count;      /* of entries */
	uint64_t *before_ns; /* idle since boot, at the last look; UINT64_MAX: it was not online */
	uint64_t looked_ns;  /* 0: never */
	int fd; /* of /proc/stat, below 0: it cannot be read; opened where there is before_ns */
};

/* Sizes the map, before load. */
int idle_prepare(const struct object *own, struct error *error);

int idle_open(struct idle *idle, const struct object *own, struct error *error);

/* Reads /proc/stat; where that cannot be read no CPU is online. */
void idle_look(struct idle *idle);

/* Takes the text of /proc/stat, read at now_ns. Any bytes may come. */
void idle_take(struct idle *idle, const char *text, size_t length, uint64_t now_ns);

void idle_done(struct idle *idle);

#endif
