/* SPDX-License-Identifier: MIT */
#ifndef EBPF_DECODE_H
#define EBPF_DECODE_H

#include "config/table_config.h"
#include "util/message.h"
#include "util/pattern.h"

#include <stdbool.h>
#include <stddef.h>

#define DECODE_TEXT_MAX 1040 /* hexadecimal digits of a key, and a few bytes */

/* Makes another text of what a part of a key is called. */
struct decode_step {
	enum { DECODE_MAP, DECODE_REGEXP, DECODE_DNAME } kind;
	const struct strings *words; /* of the Decode line, which is the configuration's */
	struct pattern *patterns;    /* of DECODE_REGEXP, of each word but the first */
	size_t pattern_count;
	bool is_strict; /* of DECODE_MAP: what is not in it is told apart */
};

/* Is this the word of a step, which needs a text? */
bool decode_is_step(const char *word);

/* Reads the words of a Decode line that is such a step. -EINVAL: the error says what is wrong; -ENOMEM. */
int decode_parse(const struct strings *words, struct decode_step *ret_step, struct error *error);

/* Changes a text; false: what is called so is left out. */
bool decode_apply(const struct decode_step *step, char text[DECODE_TEXT_MAX]);

void decode_done(struct decode_step *step);

#endif
