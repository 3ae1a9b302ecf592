/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_NEAR_H
#define EBPF_SYMBOLS_NEAR_H

#include <stddef.h>

#define NEAR_COUNT 3
#define NEAR_NAME_MAX 80 /* bytes; of longer ones none is near */
#define NEAR_TEXT_MAX ((NEAR_NAME_MAX + 8) * NEAR_COUNT + 32)

/* Names that one may have been meant to be. */
struct near {
	const char *wanted;
	char name[NEAR_COUNT][NEAR_NAME_MAX + 1];
	unsigned distance[NEAR_COUNT]; /* the nearest first */
	size_t count;
};

/* The text stays the caller's. */
void near_begin(struct near *near, const char *wanted);

void near_offer(struct near *near, const char *name);

/* "; did you mean ...?", or "". */
const char *near_text(const struct near *near, char *text, size_t size);

#endif
