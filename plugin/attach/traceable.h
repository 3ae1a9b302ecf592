/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TRACEABLE_H
#define EBPF_TRACEABLE_H

#include "util/message.h"

#include <stddef.h>
#include <stdio.h>

#define TRACEABLE_MAX 4096

/* Names of traceable kernel functions, sorted, without duplicates. */
struct traceable {
	char **names;
	size_t count;
};

/* Finds the functions whose names match the glob, see glob_match(), except those of modules.
 * Returns 0, an error of fopen(3), -ENOENT: none matches, or -E2BIG: more than TRACEABLE_MAX do.
 * The caller frees the result by traceable_done(). */
int traceable_find(struct traceable *ret_functions, const char *glob, struct error *error);

/* The same, from a list in the kernel's format. */
int traceable_read(FILE *list, struct traceable *ret_functions, const char *glob,
		   struct error *error);

void traceable_done(struct traceable *functions);

#endif
