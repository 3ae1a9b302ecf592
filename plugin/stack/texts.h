/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TEXTS_H
#define EBPF_TEXTS_H

#include "util/index.h"

#define TEXTS_MAX 32768
#define TEXTS_BYTES_MAX ((size_t)8 << 20)

/* Texts, each once, by numbers. */
struct texts {
	char **text;
	uint32_t count, room;
	size_t bytes;
	struct index index;
};

/* 0 or -ENOMEM. */
int texts_init(struct texts *texts);

/* The number of a text, which is copied; INDEX_NONE: there is no room. */
uint32_t texts_number(struct texts *texts, const char *text);

/* None is left. */
void texts_clear(struct texts *texts);

void texts_done(struct texts *texts);

#endif
