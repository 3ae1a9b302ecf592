/* SPDX-License-Identifier: MIT */
/*
 * Subjects by kind and name. The number of a subject is reused after it; the generation tells tables that
 * their sums belong to an older subject.
 *
 * No two kinds share a name. A name that an earlier kind has reserved gets underscores appended: one more
 * than the longest reserved name that differs from it only in its underscores. So the result depends on the
 * reserved names, not on their order, and different names stay different.
 */
#include "subject.h"

#include "config/name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct subject *claim_subject(struct subjects *subjects)
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

/* Is this "-7-42", with that many numbers? */
static bool is_number_list(const char *text, size_t length, unsigned numbers)
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

bool subject_names_overlap(const struct subject_names *a, const struct subject_names *b)
{
	const struct subject_names *more = a->numbers > b->numbers ? a : b;
	const struct subject_names *less = more == a ? b : a;
	size_t length = strlen(more->name);

	return !strncmp(less->name, more->name, length) &&
	       is_number_list(less->name + length, strlen(less->name + length),
			      more->numbers - less->numbers);
}

const char *subjects_find_reserved(const struct subjects *subjects, enum subject_kind kind,
				   const struct subject_names *names)
{
	for (size_t i = 0; i < subjects->reserved_count; i++)
		if (subjects->reserved[i].kind == kind &&
		    subject_names_overlap(&subjects->reserved[i], names))
			return subjects->reserved[i].name;
	return NULL;
}

int subjects_reserve(struct subjects *subjects, enum subject_kind kind, const char *name,
		     unsigned numbers)
{
	struct subject_names names = { .kind = kind, .numbers = numbers }, *grown;

	strncpy(names.name, name, sizeof(names.name) - 1);
	for (size_t i = 0; i < subjects->reserved_count; i++)
		if (subjects->reserved[i].kind == kind &&
		    subjects->reserved[i].numbers == numbers &&
		    !strcmp(subjects->reserved[i].name, names.name))
			return 0;
	grown = reallocarray(subjects->reserved, subjects->reserved_count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	subjects->reserved = grown;
	subjects->reserved[subjects->reserved_count++] = names;
	return 0;
}

/* Graphite replaces a dot by an underscore. */
static char fold_dot(char c)
{
	return c == '.' ? '_' : c;
}

/* Without the underscores at its end. */
static size_t base_length(const char *name)
{
	size_t length = strlen(name);

	while (length && fold_dot(name[length - 1]) == '_')
		length--;
	return length;
}

static bool has_same_base(const char *a, const char *b, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (fold_dot(a[i]) != fold_dot(b[i]))
			return false;
	return true;
}

/* The number of underscores that a reserved name has behind the base that it shares with `name`; -1: its base
 * differs. */
static int find_name_tail(const struct subject_names *names, const char *name, size_t base)
{
	size_t whole = strlen(names->name);
	size_t own = names->numbers ? whole : base_length(names->name);

	if (own > base || !has_same_base(names->name, name, own))
		return -1;
	if (names->numbers)
		return is_number_list(name + own, base - own, names->numbers) ? 0 : -1;
	return own == base ? (int)(whole - own) : -1;
}

static bool may_change_name(enum subject_kind kind)
{
	return kind >= SUBJECT_UNIT && kind <= SUBJECT_COMMAND;
}

/* A name that may get underscores, compared with the reserved ones. */
struct tails {
	const char *name;
	size_t base;
	int own, longest;
	bool is_reserved;
};

static void compare_tail(struct tails *tails, const struct subject_names *names)
{
	int tail = find_name_tail(names, tails->name, tails->base);

	tails->is_reserved |= tail >= 0 && tail <= tails->own;
	tails->longest = tail > tails->longest ? tail : tails->longest;
}

/* How many underscores to append so that no earlier kind has the name. */
static size_t count_underscores(const struct subjects *subjects, enum subject_kind kind,
				const char *name)
{
	size_t base = base_length(name);
	struct tails tails = { .name = name, .base = base, .own = (int)(strlen(name) - base) };

	for (size_t i = 0; i < subjects->reserved_count; i++)
		if (subjects->reserved[i].kind < kind)
			compare_tail(&tails, &subjects->reserved[i]);
	for (size_t i = 0; i < subjects->count && may_change_name(kind); i++) {
		const struct subject *s = &subjects->subject[i];
		struct subject_names names = { .kind = s->kind };

		if (!s->used || !may_change_name(s->kind) || s->kind >= kind)
			continue;
		memcpy(names.name, s->name, sizeof(names.name));
		compare_tail(&tails, &names);
	}
	return tails.is_reserved ? (size_t)tails.longest + 1 : 0;
}

/* 0 or -EEXIST. */
static int append_underscores(const struct subjects *subjects, enum subject_kind kind, char *name,
			      size_t size)
{
	size_t wanted = count_underscores(subjects, kind, name), length = strlen(name);

	if (!wanted)
		return 0;
	if (!may_change_name(kind) || length + wanted >= size)
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

int subjects_find_entered(const struct subjects *subjects, enum subject_kind kind, const char *name)
{
	char clean[SUBJECT_NAME_MAX];

	name_clean(clean, sizeof(clean), name);
	if (append_underscores(subjects, kind, clean, sizeof(clean)) != 0)
		return -1;
	return subjects_find(subjects, kind, clean);
}

int subjects_enter(struct subjects *subjects, enum subject_kind kind, const char *name)
{
	char clean[SUBJECT_NAME_MAX];
	struct subject *s;
	int status, found;

	name_clean(clean, sizeof(clean), name);
	status = append_underscores(subjects, kind, clean, sizeof(clean));
	if (status == 0 && kind == SUBJECT_SERVICE)
		status = subjects_reserve(subjects, kind, clean, 0);
	if (status)
		return status;
	found = subjects_find(subjects, kind, clean);
	if (found >= 0) {
		subjects_join(subjects, (size_t)found);
		return found;
	}
	s = claim_subject(subjects);
	if (!s)
		return -ENOMEM;
	*s = (struct subject){
		.kind = kind, .used = true, .rows = 1, .generation = ++subjects->generation
	};
	memcpy(s->name, clean, sizeof(clean));
	return (int)(s - subjects->subject);
}

void subjects_join(struct subjects *subjects, size_t subject)
{
	subjects->subject[subject].rows++;
}

void subjects_release(struct subjects *subjects, size_t subject)
{
	struct subject *s = &subjects->subject[subject];

	if (s->rows && --s->rows == 0)
		s->used = false;
}

void subjects_done(struct subjects *subjects)
{
	free(subjects->subject);
	free(subjects->reserved);
	*subjects = (struct subjects){ 0 };
}
