/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FOLDED_H
#define EBPF_FOLDED_H

#include "util/index.h"

#include <stddef.h>
#include <stdint.h>

#define FOLDED_OTHER "[other]"
#define FOLDED_STACK_MAX 32768              /* bytes of a stack, with the NUL */
#define FOLDED_VALUE_MAX 999999999999999ULL /* 15 digits: what readers take */

struct folded_line {
	char *stack; /* the outermost function first: "main;parse" */
	size_t length;
	uint64_t value;
};

/* Stacks and their values, each once. */
struct folded {
	struct folded_line *line;
	size_t count, room;
	struct index index;
	size_t bytes;   /* that all lines need in a file, at most */
	uint64_t other; /* of FOLDED_OTHER */
};

/* Adds a value to a stack. Control characters become question marks; of a stack that is too long the
 * innermost functions are left out, which it then says. Without memory the value counts for
 * FOLDED_OTHER. */
void folded_add(struct folded *folded, const char *stack, size_t length, uint64_t value);

/* Adds all lines of another one. */
void folded_add_all(struct folded *folded, const struct folded *from);

/* Adds the lines of a file, of any bytes; those that are none are skipped. */
void folded_parse(struct folded *folded, const char *bytes, size_t size);

/* The greatest values first. */
void folded_sort(struct folded *folded);

/* Keeps so many lines and bytes at most, those of the greatest values; the others count for
 * FOLDED_OTHER. */
void folded_cut(struct folded *folded, size_t lines, size_t bytes);

/* Roughly, in bytes. */
size_t folded_memory(const struct folded *folded);

void folded_done(struct folded *folded);

#endif
