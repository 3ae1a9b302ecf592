/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_SUGGESTION_H
#define EBPF_SYMBOLS_SUGGESTION_H

/* Names similar to a wanted one, for messages. */

#include <stddef.h>

#define SUGGESTIONS_MAX 3
#define SUGGESTION_NAME_MAX 80 /* bytes; longer names are ignored */
#define SUGGESTION_TEXT_MAX ((SUGGESTION_NAME_MAX + 8) * SUGGESTIONS_MAX + 32)

/* The most similar names so far. */
struct suggestion {
	const char *wanted;
	char name[SUGGESTIONS_MAX][SUGGESTION_NAME_MAX + 1];
	unsigned distance[SUGGESTIONS_MAX]; /* smallest first */
	size_t count;
};

/* Starts a search. The text stays the caller's. */
void suggestion_start(struct suggestion *suggestion, const char *wanted);

/* Compares one more name. */
void suggestion_offer(struct suggestion *suggestion, const char *name);

/* Writes "; did you mean ...?", or "". Returns text. */
const char *suggestion_text(const struct suggestion *suggestion, char *text, size_t size);

#endif
