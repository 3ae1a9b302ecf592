/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TEXTS_H
#define EBPF_TEXTS_H

/* Texts, each once, by numbers. */

#include "util/index.h"

#define TEXTS_MAX 32768
#define TEXTS_BYTES_MAX ((size_t)8 << 20)

/* Texts and the index that finds them. */
struct texts {
	char **text;
	uint32_t count, room;
	size_t bytes;
	struct index index;
};

/* 0 or -ENOMEM. */
int texts_init(struct texts *texts);

/* The number of a text, which is copied if it is new; INDEX_NONE: there is no room. */
uint32_t texts_number(struct texts *texts, const char *text);

/* Removes all texts. */
void texts_clear(struct texts *texts);

void texts_done(struct texts *texts);

#endif
