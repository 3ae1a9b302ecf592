/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FOLDED_H
#define EBPF_FOLDED_H

/* Lines of a folded file in memory. */

#include "util/index.h"

#include <stddef.h>
#include <stdint.h>

#define FOLDED_OTHER "[other]"
#define FOLDED_STACK_MAX 32768              /* bytes of a stack, with the NUL */
#define FOLDED_VALUE_MAX 999999999999999ULL /* 15 digits, as tools accept them */

struct folded_line {
	char *stack; /* outermost function first: "main;parse" */
	size_t length;
	uint64_t value;
};

/* Stacks, each once, and their values. */
struct folded {
	struct folded_line *line;
	size_t count, room;
	struct index index;
	size_t bytes;   /* that all lines need in a file, at most */
	uint64_t other; /* value of the line FOLDED_OTHER */
};

/* Adds a value to a stack. Control characters become question marks. A stack that is too long loses
 * its innermost functions, and says so. Without memory the value counts for FOLDED_OTHER. */
void folded_add(struct folded *folded, const char *stack, size_t length, uint64_t value);

/* Adds all lines of `from`. */
void folded_add_all(struct folded *folded, const struct folded *from);

/* Adds the lines of a file, which may be any bytes. Invalid lines are skipped. */
void folded_parse(struct folded *folded, const char *bytes, size_t size);

/* Sorts the lines, greatest value first. */
void folded_sort(struct folded *folded);

/* Drops the lines of the smallest values until there are at most so many lines and bytes. Their
 * values count for FOLDED_OTHER. */
void folded_cut(struct folded *folded, size_t lines, size_t bytes);

/* Bytes of memory, roughly. */
size_t folded_memory(const struct folded *folded);

void folded_done(struct folded *folded);

#endif
