/* SPDX-License-Identifier: MIT */
/*
 * Subjects by kind and name. A number that becomes free is used again; its generation
 * tells tables that their sums for it are somebody else's.
 *
 * Two kinds never have one name. A name that an earlier kind has taken gets underscores behind
 * it: one more than the longest taken one that is the same but for its underscores. So it
 * depends on the names taken alone, not on who came first, and names that differ stay apart.
 */
#include "subject.h"

#include "config/name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct subject *free_subject(struct subjects *subjects)
{
	struct subject *grown;

	for (size_t i = 0; i < subjects->count; i++)
		if (!subjects->subject[i].used)
			return &subjects->subject[i];
	grown = reallocarray(subjects->subject, subjects->count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	subjects->subject = grown;
	return &subjects->subject[subjects->count++];
}

/* Is this "-7-42", with so many numbers? */
static bool are_numbers(const char *text, size_t length, unsigned numbers)
{
	const char *end = text + length;

	for (; numbers; numbers--) {
		size_t digits = text < end && *text == '-' ? strspn(text + 1, "0123456789") : 0;

		if (!digits)
			return false;
		text += 1 + digits;
	}
	return text == end;
}

bool subject_names_meet(const struct subject_names *a, const struct subject_names *b)
{
	const struct subject_names *more = a->numbers > b->numbers ? a : b;
	const struct subject_names *less = more == a ? b : a;
	size_t length = strlen(more->name);

	return !strncmp(less->name, more->name, length) &&
	       are_numbers(less->name + length, strlen(less->name + length),
			   more->numbers - less->numbers);
}

const char *subjects_taken(const struct subjects *subjects, enum subject_kind kind,
			   const struct subject_names *names)
{
	for (size_t i = 0; i < subjects->taken_count; i++)
		if (subjects->taken[i].kind == kind &&
		    subject_names_meet(&subjects->taken[i], names))
			return subjects->taken[i].name;
	return NULL;
}

int subjects_take(struct subjects *subjects, enum subject_kind kind, const char *name,
		  unsigned numbers)
{
	struct subject_names names = { .kind = kind, .numbers = numbers }, *grown;

	strncpy(names.name, name, sizeof(names.name) - 1);
	for (size_t i = 0; i < subjects->taken_count; i++)
		if (subjects->taken[i].kind == kind && subjects->taken[i].numbers == numbers &&
		    !strcmp(subjects->taken[i].name, names.name))
			return 0;
	grown = reallocarray(subjects->taken, subjects->taken_count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	subjects->taken = grown;
	subjects->taken[subjects->taken_count++] = names;
	return 0;
}

/* Graphite writes a dot as an underscore. */
static char folded(char c)
{
	return c == '.' ? '_' : c;
}

/* Without the underscores at the end. */
static size_t base_length(const char *name)
{
	size_t length = strlen(name);

	while (length && folded(name[length - 1]) == '_')
		length--;
	return length;
}

static bool same_base(const char *a, const char *b, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (folded(a[i]) != folded(b[i]))
			return false;
	return true;
}

/* The underscores of a taken name behind the base that it has in common with a name;
 * -1: it has another. */
static int names_tail(const struct subject_names *names, const char *name, size_t base)
{
	size_t whole = strlen(names->name);
	size_t own = names->numbers ? whole : base_length(names->name);

	if (own > base || !same_base(names->name, name, own))
		return -1;
	if (names->numbers)
		return are_numbers(name + own, base - own, names->numbers) ? 0 : -1;
	return own == base ? (int)(whole - own) : -1;
}

static bool makes_way(enum subject_kind kind)
{
	return kind >= SUBJECT_UNIT && kind <= SUBJECT_COMMAND;
}

/* A name that gets underscores, and those that are taken. */
struct tails {
	const char *name;
	size_t base;
	int own, longest;
	bool is_taken;
};

static void compare_tail(struct tails *tails, const struct subject_names *names)
{
	int tail = names_tail(names, tails->name, tails->base);

	tails->is_taken |= tail >= 0 && tail <= tails->own;
	tails->longest = tail > tails->longest ? tail : tails->longest;
}

/* How many underscores more a name needs to be nobody's of an earlier kind. */
static size_t underscores_wanted(const struct subjects *subjects, enum subject_kind kind,
				 const char *name)
{
	size_t base = base_length(name);
	struct tails tails = { .name = name, .base = base, .own = (int)(strlen(name) - base) };

	for (size_t i = 0; i < subjects->taken_count; i++)
		if (subjects->taken[i].kind < kind)
			compare_tail(&tails, &subjects->taken[i]);
	for (size_t i = 0; i < subjects->count && makes_way(kind); i++) {
		const struct subject *s = &subjects->subject[i];
		struct subject_names names = { .kind = s->kind };

		if (!s->used || !makes_way(s->kind) || s->kind >= kind)
			continue;
		memcpy(names.name, s->name, sizeof(names.name));
		compare_tail(&tails, &names);
	}
	return tails.is_taken ? (size_t)tails.longest + 1 : 0;
}

/* 0 or -EEXIST. */
static int give_way(const struct subjects *subjects, enum subject_kind kind, char *name,
		    size_t size)
{
	size_t wanted = underscores_wanted(subjects, kind, name), length = strlen(name);

	if (!wanted)
		return 0;
	if (!makes_way(kind) || length + wanted >= size)
		return -EEXIST;
	memset(name + length, '_', wanted);
	name[length + wanted] = '\0';
	return 0;
}

int subjects_find(const struct subjects *subjects, enum subject_kind kind, const char *name)
{
	char clean[SUBJECT_NAME_MAX];

	name_clean(clean, sizeof(clean), name);
	for (size_t i = 0; i < subjects->count; i++) {
		const struct subject *s = &subjects->subject[i];

		if (s->used && s->kind == kind && !strcmp(s->name, clean))
			return (int)i;
	}
	return -1;
}

int subjects_enter(struct subjects *subjects, enum subject_kind kind, const char *name)
{
	char clean[SUBJECT_NAME_MAX];
	struct subject *s;
	int status, known;

	name_clean(clean, sizeof(clean), name);
	status = give_way(subjects, kind, clean, sizeof(clean));
	if (status == 0 && kind == SUBJECT_SERVICE)
		status = subjects_take(subjects, kind, clean, 0);
	if (status)
		return status;
	known = subjects_find(subjects, kind, clean);
	if (known >= 0) {
		subjects->subject[known].rows++;
		return known;
	}
	s = free_subject(subjects);
	if (!s)
		return -ENOMEM;
	*s = (struct subject){
		.kind = kind, .used = true, .rows = 1, .generation = ++subjects->generation
	};
	memcpy(s->name, clean, sizeof(clean));
	return (int)(s - subjects->subject);
}

void subjects_leave(struct subjects *subjects, size_t subject)
{
	struct subject *s = &subjects->subject[subject];

	if (s->rows && --s->rows == 0)
		s->used = false;
}

void subjects_done(struct subjects *subjects)
{
	free(subjects->subject);
	free(subjects->taken);
	*subjects = (struct subjects){ 0 };
}
