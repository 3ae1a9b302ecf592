/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TRACEABLE_H
#define EBPF_TRACEABLE_H

#include "util/message.h"

#include <stddef.h>
#include <stdio.h>

#define TRACEABLE_MAX 4096

/* Functions of the kernel that can be traced, each name once. */
struct traceable {
	char **names;
	size_t count;
};

/* Finds those that fit a pattern, see glob_match(); of modules none. What cannot be read, -ENOENT: none
 * fits, -E2BIG: more than TRACEABLE_MAX do. */
int traceable_find(struct traceable *ret_functions, const char *glob, struct error *error);

/* The same, from such a list. */
int traceable_read(FILE *list, struct traceable *ret_functions, const char *glob,
		   struct error *error);

void traceable_done(struct traceable *functions);

#endif
