/* SPDX-License-Identifier: MIT */
#ifndef EBPF_DECODE_H
#define EBPF_DECODE_H

#include "config/table_config.h"
#include "util/message.h"
#include "util/regex.h"

#include <stdbool.h>
#include <stddef.h>

#define DECODE_TEXT_MAX 1040 /* a key in hexadecimal digits, and a few bytes */

/* Turns the name of a part of a key into another one. */
struct decode_step {
	enum { DECODE_MAP, DECODE_REGEXP, DECODE_DNAME } kind;
	const struct strings *words; /* of the Decode line; the configuration owns them */
	struct regex *regexes;       /* with DECODE_REGEXP: one for each word but the first */
	size_t regex_count;
	bool is_strict; /* with DECODE_MAP: a value that is not listed becomes "unknown:VALUE" */
};

/* Does this word of a Decode line name a step, which works on text? */
bool decode_is_step(const char *word);

/* Parses the words of a Decode line that is a step. -EINVAL: the error says what is wrong;
 * -ENOMEM. */
int decode_parse(const struct strings *words, struct decode_step *ret_step, struct error *error);

/* Applies a step to a text, in place. False: keys with this text are left out. */
bool decode_apply(const struct decode_step *step, char text[DECODE_TEXT_MAX]);

void decode_done(struct decode_step *step);

#endif
