/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_NEAR_H
#define EBPF_SYMBOLS_NEAR_H

/* Names similar to a wanted one, for messages. */

#include <stddef.h>

#define NEAR_COUNT 3
#define NEAR_NAME_MAX 80 /* bytes; longer names are ignored */
#define NEAR_TEXT_MAX ((NEAR_NAME_MAX + 8) * NEAR_COUNT + 32)

/* The most similar names so far. */
struct near {
	const char *wanted;
	char name[NEAR_COUNT][NEAR_NAME_MAX + 1];
	unsigned distance[NEAR_COUNT]; /* smallest first */
	size_t count;
};

/* Starts a search. The text stays the caller's. */
void near_begin(struct near *near, const char *wanted);

/* Compares one more name. */
void near_offer(struct near *near, const char *name);

/* Writes "; did you mean ...?", or "". Returns text. */
const char *near_text(const struct near *near, char *text, size_t size);

#endif
