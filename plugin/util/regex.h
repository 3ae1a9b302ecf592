/* SPDX-License-Identifier: MIT */
#ifndef EBPF_REGEX_H
#define EBPF_REGEX_H

/* Regular expressions with bounded cost. */

#include <stdbool.h>
#include <stddef.h>

struct pcre2_real_code_8;

/* A regular expression of PCRE2. */
struct regex {
	struct pcre2_real_code_8 *code;
};

/* Compiles an expression. On false `why` says why, and there is nothing to free. Back references
 * are refused, because the text decides what they cost. */
bool regex_init(struct regex *regex, const char *text, char *why, size_t size);

/* The same, for regex_find(). */
bool regex_init_finding(struct regex *regex, const char *text, char *why, size_t size);

/* Finds the part of the text that matches, or the part in the first group if that has matched;
 * false: none. The limits of regex_match() apply. */
bool regex_find(const struct regex *regex, const char *text, size_t *ret_begin, size_t *ret_end);

/* Does the expression match a part of the text? A match that would need more than some 25 ms or 4
 * MiB fails, whatever the expression. */
bool regex_match(const struct regex *regex, const char *text);

void regex_done(struct regex *regex);

#endif
