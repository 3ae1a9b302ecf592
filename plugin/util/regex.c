/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions of the configuration, matched against texts that anybody may have chosen.
 * PCRE2 can bound what a match costs. With the C library's, .*a.{200}d on a command line of 4 KiB
 * takes ten minutes and a gigabyte.
 */
#include "regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <string.h>

#define LENGTH_MAX 1024        /* bytes of an expression */
#define MATCH_STEPS_MAX 250000 /* some 25 ms */
#define STEP_BYTES 16          /* skipped bytes that count as one more step */
#define MATCH_KIB_MAX 4096

static bool describe_bad_regex(char *why, size_t size, int code, size_t at)
{
	size_t used = (size_t)snprintf(why, size, "it is not a regular expression: ");

	if (used < size)
		pcre2_get_error_message(code, (PCRE2_UCHAR *)why + used, size - used);
	used = strlen(why);
	snprintf(why + used, size - used, ", at byte %zu", at);
	return false;
}

/* A newline is a byte of a command line like any other, and UTF-8 is matched as bytes. */
#define OPTIONS                                                                       \
	(PCRE2_AUTO_CALLOUT | PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_UTF | \
	 PCRE2_NEVER_BACKSLASH_C)

/* PCRE2_NO_AUTO_CAPTURE makes a back reference invalid, so compile without it to find one. */
static bool has_back_references(const char *text)
{
	uint32_t count = 0;
	PCRE2_SIZE at;
	int code;
	pcre2_code *compiled =
		pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, OPTIONS, &code, &at, NULL);

	if (compiled)
		pcre2_pattern_info(compiled, PCRE2_INFO_BACKREFMAX, &count);
	pcre2_code_free(compiled);
	return count > 0;
}

static bool compile_regex(struct regex *regex, const char *text, uint32_t options, char *why,
			  size_t size)
{
	PCRE2_SIZE at = 0;
	int code = 0;

	if (strlen(text) > LENGTH_MAX) {
		snprintf(why, size, "it is longer than %d bytes", LENGTH_MAX);
		return false;
	}
	if (has_back_references(text)) {
		snprintf(why, size, "it has a back reference, which can take minutes to match");
		return false;
	}
	regex->code =
		pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, options, &code, &at, NULL);
	return regex->code || describe_bad_regex(why, size, code, at);
}

bool regex_init(struct regex *regex, const char *text, char *why, size_t size)
{
	return compile_regex(regex, text, OPTIONS | PCRE2_NO_AUTO_CAPTURE, why, size);
}

bool regex_init_finding(struct regex *regex, const char *text, char *why, size_t size)
{
	return compile_regex(regex, text, OPTIONS, why, size);
}

/* The steps that a match may still make. */
struct effort {
	size_t steps;
	size_t at; /* position of the last step */
};

/* Called at each step. A step may have skipped the length of a line, as `a*` does. PCRE2's own
 * limit starts again at each byte where a match may start, so it does not bound the whole match. */
static int count_step(pcre2_callout_block *block, void *of)
{
	struct effort *left = of;
	size_t at = block->current_position;
	size_t length = at > left->at ? at - left->at : left->at - at;
	size_t cost = 1 + length / STEP_BYTES;

	left->at = at;
	if (cost > left->steps)
		return PCRE2_ERROR_MATCHLIMIT;
	left->steps -= cost;
	return 0;
}

static int match_within_limits(const struct regex *regex, const char *text, pcre2_match_data *data)
{
	pcre2_match_context *limits = pcre2_match_context_create(NULL);
	struct effort left = { .steps = MATCH_STEPS_MAX };
	int code = PCRE2_ERROR_NOMEMORY;

	if (limits && data) {
		pcre2_set_callout(limits, count_step, &left);
		pcre2_set_heap_limit(limits, MATCH_KIB_MAX);
		code = pcre2_match(regex->code, (PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, 0, data,
				   limits);
	}
	pcre2_match_context_free(limits);
	return code;
}

bool regex_match(const struct regex *regex, const char *text)
{
	pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	int code = match_within_limits(regex, text, data);

	pcre2_match_data_free(data);
	return code >= 0;
}

bool regex_find(const struct regex *regex, const char *text, size_t *ret_begin, size_t *ret_end)
{
	pcre2_match_data *data = pcre2_match_data_create(2, NULL);
	int code = match_within_limits(regex, text, data);
	const size_t *ends = code >= 0 ? pcre2_get_ovector_pointer(data) : NULL;

	/* 0: the expression has more groups than data has room for. */
	if (ends && code != 1 && ends[2] != PCRE2_UNSET)
		ends += 2;
	if (ends) {
		*ret_begin = ends[0];
		*ret_end = ends[1] > ends[0] ? ends[1] : ends[0];
	}
	pcre2_match_data_free(data);
	return ends != NULL;
}

void regex_done(struct regex *regex)
{
	pcre2_code_free(regex->code);
	*regex = (struct regex){ 0 };
}
