/* SPDX-License-Identifier: MIT */
/*
 * Messages on mistakes in the configuration: first what happens, then why. A file written by a faulty script has
 * thousands of mistakes of one kind, so a few of each kind are logged, then their number.
 */
#include "mistake.h"

#include "option.h"
#include "util/message.h"

#include <ctype.h>
#include <liboconfig/oconfig.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LOGGED_MAX 5 /* of a kind */
#define WORD_MAX 32
#define IGNORED LOG_ERR
#define USED LOG_NOTICE

static const char *mistake_verb(int severity)
{
	return severity == IGNORED ? "ignoring" : "using";
}

/* The entry of a kind, which is created if needed. When all entries are in use, the last one is shared. */
static struct mistake_kind *get_mistake_kind(struct mistakes *mistakes, int severity,
					     const char *format)
{
	struct mistake_kind *kind = mistakes->kind, *end = kind + mistakes->kind_count;

	while (kind < end && (kind->severity != severity || strcmp(kind->format, format) != 0))
		kind++;
	if (kind == mistakes->kind + MISTAKE_KINDS_MAX)
		return kind - 1;
	if (kind == end) {
		mistakes->kind_count++;
		*kind = (struct mistake_kind){ .severity = severity, .format = format };
	}
	return kind;
}

struct mistake_name mistake_name(const char *where, const oconfig_item_t *item)
{
	bool is_block = !where || item->children_num;
	struct mistake_name name;
	char values[400];

	option_text(item, values, sizeof(values));
	snprintf(name.text, sizeof(name.text), is_block ? "<%s%s>%s%s" : "%s%s%s%s", item->key,
		 values, where ? " in " : "", where ?: "");
	return name;
}

__attribute__((format(printf, 4, 0))) static void log_mistake(struct mistakes *mistakes,
							      int severity, const char *name,
							      const char *format, va_list args)
{
	struct mistake_kind *kind = get_mistake_kind(mistakes, severity, format);
	char text[1024];

	mistakes->ignored += severity == IGNORED;
	if (++kind->count > LOGGED_MAX) {
		snprintf(kind->last, sizeof(kind->last), "%.255s", name);
		return;
	}
	vsnprintf(text, sizeof(text), format, args);
	message(severity, "%s %s: %s", mistake_verb(severity), name, text);
}

bool mistake_ignore(struct mistakes *mistakes, const char *name, const char *why, ...)
{
	va_list args;

	va_start(args, why);
	log_mistake(mistakes, IGNORED, name, why, args);
	va_end(args);
	return false;
}

void mistake_note(struct mistakes *mistakes, const char *name, const char *what, ...)
{
	va_list args;

	va_start(args, what);
	log_mistake(mistakes, USED, name, what, args);
	va_end(args);
}

void mistakes_end(const struct mistakes *mistakes)
{
	for (size_t i = 0; i < mistakes->kind_count; i++) {
		const struct mistake_kind *kind = &mistakes->kind[i];

		if (kind->count > LOGGED_MAX)
			message(kind->severity, "%s %u more like it, the last of them %s",
				mistake_verb(kind->severity), kind->count - LOGGED_MAX, kind->last);
	}
}

static unsigned smallest_of(unsigned a, unsigned b, unsigned c)
{
	unsigned d = a < b ? a : b;

	return c < d ? c : d;
}

/* The number of letters to change, add or remove; case does not count. */
static unsigned edit_distance(const char *a, const char *b)
{
	unsigned row[WORD_MAX + 1];
	size_t columns = strlen(b);

	for (size_t j = 0; j <= columns; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= strlen(a); i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= columns; j++) {
			bool same = tolower((unsigned char)a[i - 1]) ==
				    tolower((unsigned char)b[j - 1]);
			unsigned above = row[j];

			row[j] = smallest_of(above + 1, row[j - 1] + 1, diagonal + !same);
			diagonal = above;
		}
	}
	return row[columns];
}

const char *mistake_near(const char *word, const char *const *words)
{
	const char *near = NULL;
	unsigned best = 3;

	if (strlen(word) > WORD_MAX)
		return NULL;
	for (; *words; words++) {
		unsigned d = strlen(*words) > WORD_MAX ? best : edit_distance(word, *words);

		/* More than half of a short word must be the same. */
		if (d < best && 2 * d < strlen(*words)) {
			best = d;
			near = *words;
		}
	}
	return near;
}
