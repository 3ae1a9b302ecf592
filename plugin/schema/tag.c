/* SPDX-License-Identifier: MIT */
/*
 * Parses the texts of tags: METRIC is TYPE[-INSTANCE][:SOURCE] and words, SUBJECT is words.
 */
#include "tag.h"

#include "config/name.h"
#include "tag_word.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPACE " \t"

static bool is_clean(const char *name)
{
	char clean[SUBJECT_NAME_MAX];

	name_clean(clean, sizeof(clean), name);
	return !strcmp(name, clean);
}

static bool parse_identifier(const char *word, size_t length, struct tag *tag)
{
	size_t type = strcspn(word, "-: \t"), instance = 0, source = 0;
	const char *at = word + type;

	if (type == 0 || !tag_word_copy(tag->type, sizeof(tag->type), word, type))
		return false;
	if (*at == '-') {
		instance = strcspn(++at, ": \t");
		if (instance == 0 ||
		    !tag_word_copy(tag->instance, sizeof(tag->instance), at, instance) ||
		    !is_clean(tag->instance))
			return false;
		at += instance;
	}
	if (*at == ':') {
		source = strcspn(++at, ": \t");
		if (source == 0 || !tag_word_copy(tag->source, sizeof(tag->source), at, source))
			return false;
		at += source;
	}
	return at == word + length;
}

/* Parses a positive decimal number and moves *text behind it. */
static bool parse_positive(const char **text, uint64_t *ret_number)
{
	char *end;
	uint64_t n;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	n = strtoull(*text, &end, 10);
	if (errno || n == 0)
		return false;
	*text = end;
	*ret_number = n;
	return true;
}

static bool parse_metric_word(const char *word, size_t length, struct tag *tag)
{
	const char *at;

	if (tag_word_is(word, length, "rate"))
		return tag->rate = true;
	if (tag_word_is(word, length, "frequency"))
		return tag->frequency = true;
	if (tag_word_is(word, length, "rank"))
		return tag->rank = true;
	if (tag_word_is(word, length, "highest"))
		return tag->highest = true;
	if (tag_word_is(word, length, "least"))
		return tag->least = true;
	if (strncmp(word, "scale=", 6) == 0) {
		at = word + 6;
		return parse_positive(&at, &tag->numerator) && *at++ == '/' &&
		       parse_positive(&at, &tag->denominator) && at == word + length;
	}
	if (strncmp(word, "active=", 7) == 0) {
		at = word + 7;
		return parse_positive(&at, &tag->active_growth) && at == word + length;
	}
	if (!tag->where[0] &&
	    tag_word_value(word, length, "where=", tag->where, sizeof(tag->where)))
		return true;
	if (!tag->tail[0] && tag_word_value(word, length, "tail=", tag->tail, sizeof(tag->tail)))
		return true;
	if (tag->per[0])
		return false;
	tag->divides_values = tag_word_value(word, length, "of=", tag->per, sizeof(tag->per));
	return tag->divides_values ||
	       tag_word_value(word, length, "per=", tag->per, sizeof(tag->per));
}

int tag_parse(const char *text, struct tag *ret_tag, struct error *error)
{
	struct tag tag = { .numerator = 1, .denominator = 1 };
	const char *word = text + strspn(text, SPACE);
	size_t length = strcspn(word, SPACE);

	if (!parse_identifier(word, length, &tag))
		return error_set(error, -EINVAL, "\"%.*s\" is not TYPE[-INSTANCE][:SOURCE]",
				 (int)length, word);
	for (word += length; word += strspn(word, SPACE), *word; word += length) {
		length = strcspn(word, SPACE);
		if (!parse_metric_word(word, length, &tag))
			return error_set(
				error, -EINVAL,
				"unknown word \"%.*s\" (rate, frequency, rank, highest, least, "
				"scale=A/B, active=N, per=MEMBER, of=MEMBER, where=MEMBER or "
				"tail=MEMBER)",
				(int)length, word);
	}
	*ret_tag = tag;
	return 0;
}

static const char *const subject_words[] = {
	[SUBJECT_SERVICE] = "service",
	[SUBJECT_PROBE] = "probe",
	[SUBJECT_PROCESS] = "process",
	[SUBJECT_KEY] = "key",
};

/* The kind of subject that a word names, or SUBJECT_NONE. */
static enum subject_kind parse_subject_kind(const char *word, size_t length)
{
	for (size_t i = 0; i < sizeof(subject_words) / sizeof(*subject_words); i++)
		if (subject_words[i] && tag_word_is(word, length, subject_words[i]))
			return (enum subject_kind)i;
	return SUBJECT_NONE;
}

static bool parse_subject_word(const char *word, size_t length, struct subject_tag *tag)
{
	enum subject_kind kind = parse_subject_kind(word, length);

	if (kind != SUBJECT_NONE)
		tag->kind = kind;
	else if (tag_word_is(word, length, "cpu"))
		tag->cpu = true;
	else if (tag_word_is(word, length, "sharded"))
		tag->sharded = true;
	else
		return tag_word_value(word, length, "via=", tag->via, sizeof(tag->via)) ||
		       tag_word_value(word, length, "owners=", tag->owners, sizeof(tag->owners)) ||
		       tag_word_value(word, length, "label=", tag->label, sizeof(tag->label));
	return true;
}

int subject_parse(const char *text, struct subject_tag *ret_tag, struct error *error)
{
	struct subject_tag tag = { 0 };
	const char *word = text;
	size_t length;

	for (; word += strspn(word, SPACE), *word; word += length) {
		enum subject_kind before = tag.kind;

		length = strcspn(word, SPACE);
		if (!parse_subject_word(word, length, &tag))
			return error_set(error, -EINVAL,
					 "unknown word \"%.*s\" of a subject (service, process, "
					 "probe, key, sharded, cpu, label=WORD, via=MAP or "
					 "owners=MAP)",
					 (int)length, word);
		if (before != SUBJECT_NONE && tag.kind != before)
			return error_set(error, -EINVAL,
					 "a subject is one of service, process, probe and key");
	}
	if (tag.kind == SUBJECT_NONE)
		return error_set(error, -EINVAL,
				 "a subject is one of service, process, probe and key");
	if (!tag.via[0] != !tag.owners[0] ||
	    (tag.via[0] && tag.kind != SUBJECT_SERVICE && tag.kind != SUBJECT_PROCESS))
		return error_set(error, -EINVAL,
				 "via=MAP and owners=MAP go together, and with service or process");
	if ((tag.cpu || tag.label[0]) && tag.kind != SUBJECT_KEY)
		return error_set(error, -EINVAL, "cpu and label=WORD go with key");
	*ret_tag = tag;
	return 0;
}
