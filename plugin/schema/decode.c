/* SPDX-License-Identifier: MIT */
/*
 * Steps of Decode lines that turn one text into another: names from a list, the part that a regular
 * expression matches, a domain name in dots. The text comes from a map and may be anything.
 */
#include "decode.h"

#include "util/number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *word;
	int kind;
	bool is_strict;
} steps[] = {
	{ "map", DECODE_MAP, false },
	{ "map-strict", DECODE_MAP, true },
	{ "regexp", DECODE_REGEXP, false },
	{ "dname", DECODE_DNAME, false },
};

#define STEPS (sizeof(steps) / sizeof(*steps))

static size_t step_of(const char *word)
{
	size_t i = 0;

	while (i < STEPS && strcmp(steps[i].word, word) != 0)
		i++;
	return i;
}

bool decode_is_step(const char *word)
{
	return step_of(word) < STEPS;
}

static int parse_regexes(const struct strings *words, struct decode_step *step, struct error *error)
{
	char why[256];

	if (words->count < 2)
		return error_set(error, -EINVAL, "Decode \"regexp\" takes regular expressions");
	step->regexes = calloc(words->count, sizeof(*step->regexes));
	if (!step->regexes)
		return error_set(error, -ENOMEM, "no memory");
	for (size_t i = 1; i < words->count; i++, step->regex_count++)
		if (!regex_init_finding(&step->regexes[i - 1], words->item[i], why, sizeof(why)))
			return error_set(error, -EINVAL, "Decode \"regexp\" \"%.64s\": %s",
					 words->item[i], why);
	return 0;
}

int decode_parse(const struct strings *words, struct decode_step *ret_step, struct error *error)
{
	size_t i = step_of(words->item[0]);
	struct decode_step step = {
		.kind = steps[i].kind,
		.words = words,
		.is_strict = steps[i].is_strict,
	};
	int status = 0;

	if (step.kind == DECODE_REGEXP)
		status = parse_regexes(words, &step, error);
	else if (step.kind == DECODE_DNAME && words->count != 1)
		status = error_set(error, -EINVAL, "Decode \"dname\" takes nothing more");
	else if (step.kind == DECODE_MAP && (words->count < 3 || words->count % 2 == 0))
		status = error_set(error, -EINVAL,
				   "Decode \"%s\" takes pairs: VALUE \"NAME\" VALUE \"NAME\"...",
				   words->item[0]);
	if (status)
		decode_done(&step);
	else
		*ret_step = step;
	return status;
}

static void set_text(char *text, const char *to)
{
	snprintf(text, DECODE_TEXT_MAX, "%s", to);
}

/* Are they the same text, or the same number in different notations? */
static bool is_same_value(const char *value, const char *text)
{
	struct number a, b;
	const char *end_a, *end_b;

	if (!strcmp(value, text))
		return true;
	return number_parse(value, &a, &end_a) && !*end_a && number_parse(text, &b, &end_b) &&
	       !*end_b && number_compare(a, b) == 0;
}

static void apply_map(const struct decode_step *step, char *text)
{
	char unknown[DECODE_TEXT_MAX];

	for (size_t i = 1; i + 1 < step->words->count; i += 2)
		if (is_same_value(step->words->item[i], text)) {
			set_text(text, step->words->item[i + 1]);
			return;
		}
	if (!step->is_strict)
		return;
	snprintf(unknown, sizeof(unknown), "unknown:%.*s", DECODE_TEXT_MAX - 16, text);
	set_text(text, unknown);
}

static bool apply_regexes(const struct decode_step *step, char *text)
{
	size_t from, behind;

	for (size_t i = 0; i < step->regex_count; i++) {
		if (!regex_find(&step->regexes[i], text, &from, &behind))
			continue;
		memmove(text, text + from, behind - from);
		text[behind - from] = '\0';
		return true;
	}
	return false;
}

/* Replaces the length byte in front of each DNS label by a dot. Text from the first invalid length
 * on stays as it is. */
static void apply_dname(char *text)
{
	size_t length = strlen(text), at = 0;

	while (at < length) {
		size_t label = (unsigned char)text[at];

		if (label > 63 || at + label >= length)
			break;
		text[at] = '.';
		at += label + 1;
	}
	if (text[0] == '.')
		memmove(text, text + 1, length);
}

bool decode_apply(const struct decode_step *step, char text[DECODE_TEXT_MAX])
{
	switch (step->kind) {
	case DECODE_MAP:
		apply_map(step, text);
		return true;
	case DECODE_REGEXP:
		return apply_regexes(step, text);
	default:
		apply_dname(text);
		return true;
	}
}

void decode_done(struct decode_step *step)
{
	for (size_t i = 0; i < step->regex_count; i++)
		regex_done(&step->regexes[i]);
	free(step->regexes);
}
