/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PATTERN_H
#define EBPF_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

struct pcre2_real_code_8;

/* A regular expression as PCRE2 has them. */
struct pattern {
	struct pcre2_real_code_8 *code;
};

/* Compiles an expression; on false `why` says why not, and there is nothing to
 * free. Back references are refused: what they cost is up to the text. */
bool pattern_init(struct pattern *pattern, const char *text, char *why, size_t size);

/* Likewise, of which a part is found by pattern_find(). */
bool pattern_init_finding(struct pattern *pattern, const char *text, char *why, size_t size);

/* Which part of the text fits, or what is in the first parentheses, if that fits anything; false: none. The
 * same limits. */
bool pattern_find(const struct pattern *pattern, const char *text, size_t *ret_begin,
		  size_t *ret_end);

/* Does it fit a part of the text? A text that would take more than some
 * 25 ms or 4 MiB to tell does not, whatever the expression. */
bool pattern_match(const struct pattern *pattern, const char *text);

void pattern_done(struct pattern *pattern);

#endif
