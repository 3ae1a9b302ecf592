/* SPDX-License-Identifier: MIT */
/*
 * Subjects by kind and name. The number of a subject is reused after it; the generation tells tables that
 * their sums belong to an older subject.
 *
 * No two subjects have one name for a receiver. A name that is taken already, by an earlier kind or by
 * another subject of its own kind, gets a hash of its text appended. Of one kind, the text that receivers
 * have unchanged is the name, so that names are the same after each restart; else the older one has it.
 */
#include "subject.h"

#include "helper/file.h"
#include "util/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLASH_AGAIN_NS (3600 * NS_PER_S) /* until the next message about a kind */

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

/* Is it this name with that many numbers appended? */
static bool has_numbers(const char *name, const char *base, unsigned numbers)
{
	size_t length = strlen(base);

	for (size_t i = 0; i < length; i++)
		if (name_fold(name[i]) != name_fold(base[i]))
			return false;
	return is_number_list(name + length, strlen(name + length), numbers);
}

bool subject_names_overlap(const struct subject_names *a, const struct subject_names *b)
{
	const struct subject_names *more = a->numbers > b->numbers ? a : b;
	const struct subject_names *less = more == a ? b : a;

	return has_numbers(less->name, more->name, more->numbers - less->numbers);
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

/* Whose a name is: another subject of this kind or an earlier one has it, or may have it. */
struct name_owner {
	enum subject_kind kind;
	const char *name;
};

/* Does `a` keep a name that both would have, if it was first? */
static bool may_precede(const struct subject *a, const struct subject *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind;
	return a->origin != b->origin &&
	       (a->is_exact || !b->is_exact || a->kind == SUBJECT_SERVICE);
}

static bool find_name_owner(const struct subjects *subjects, const struct subject *of,
			    struct name_owner *ret_owner)
{
	for (size_t i = 0; i < subjects->reserved_count; i++) {
		const struct subject_names *names = &subjects->reserved[i];

		if (names->kind < of->kind && has_numbers(of->name, names->name, names->numbers)) {
			*ret_owner = (struct name_owner){ names->kind, names->name };
			return true;
		}
	}
	for (size_t i = 0; i < subjects->count; i++) {
		const struct subject *s = &subjects->subject[i];

		if (s->used && may_precede(s, of) && name_is_same(s->name, of->name)) {
			*ret_owner = (struct name_owner){ s->kind, s->name };
			return true;
		}
	}
	return false;
}

bool subject_is_of(const struct subject *subject, const char *text)
{
	return subject->origin == file_number(text);
}

bool subjects_keeps_name(const struct subjects *subjects, size_t subject)
{
	struct name_owner owner;

	return !find_name_owner(subjects, &subjects->subject[subject], &owner);
}

int subjects_find(const struct subjects *subjects, enum subject_kind kind, const char *text)
{
	for (size_t i = 0; i < subjects->count; i++) {
		const struct subject *s = &subjects->subject[i];

		if (s->used && s->kind == kind && subject_is_of(s, text) &&
		    subjects_keeps_name(subjects, i))
			return (int)i;
	}
	return -1;
}

static void note_clash(struct subjects *subjects, const struct subject *s, const char *text,
		       const struct name_owner *owner)
{
	static const char *const words[] = {
		[SUBJECT_NONE] = "plugin", [SUBJECT_SERVICE] = "service",
		[SUBJECT_PROBE] = "probe", [SUBJECT_PROCESS] = "process",
		[SUBJECT_UNIT] = "unit",   [SUBJECT_CONTAINER] = "container",
		[SUBJECT_USER] = "user",   [SUBJECT_COMMAND] = "command",
	};
	struct subject_clash *clash = &subjects->clashes[s->kind];
	char escaped[SUBJECT_NAME_MAX];

	name_escape(escaped, sizeof(escaped), text);
	if (!clash->text[0])
		snprintf(clash->text, sizeof(clash->text),
			 "series of the %s \"%s\" are called \"%s\", as the %s \"%s\" has its name "
			 "already; rename one of them to choose another",
			 words[s->kind], escaped, s->name, words[owner->kind], owner->name);
}

/* The first attempt that no other has is its name. */
static void choose_subject_name(struct subjects *subjects, struct subject *s, const char *text)
{
	struct name_owner owner = { SUBJECT_NONE, NULL };
	unsigned attempt = 0;

	name_attempt(s->name, sizeof(s->name), text, attempt);
	s->is_exact = !strcmp(s->name, text) && !strchr(text, '.');
	while (find_name_owner(subjects, s, &owner))
		name_attempt(s->name, sizeof(s->name), text, ++attempt);
	if (attempt)
		note_clash(subjects, s, text, &owner);
}

int subjects_enter(struct subjects *subjects, enum subject_kind kind, const char *text)
{
	struct subject made = { .kind = kind, .used = true, .origin = file_number(text) };
	int found = subjects_find(subjects, kind, text), status = 0;
	struct subject *s;

	if (found >= 0) {
		subjects_add_row(subjects, (size_t)found);
		return found;
	}
	choose_subject_name(subjects, &made, text);
	if (kind == SUBJECT_SERVICE)
		status = subjects_reserve(subjects, kind, made.name, 0);
	s = status ? NULL : claim_subject(subjects);
	if (!s)
		return -ENOMEM;
	made.generation = ++subjects->generation;
	*s = made;
	subjects_add_row(subjects, (size_t)(s - subjects->subject));
	return (int)(s - subjects->subject);
}

void subjects_add_row(struct subjects *subjects, size_t subject)
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

bool subjects_claim_clash(struct subjects *subjects, uint64_t now_ns, struct error *ret_clash)
{
	for (size_t i = 0; i < sizeof(subjects->clashes) / sizeof(*subjects->clashes); i++) {
		struct subject_clash *clash = &subjects->clashes[i];
		bool is_due = !clash->claimed_ns || now_ns - clash->claimed_ns > CLASH_AGAIN_NS;

		if (!clash->text[0] || !is_due)
			continue;
		error_set(ret_clash, 0, "%s", clash->text);
		*clash = (struct subject_clash){ .claimed_ns = now_ns };
		return true;
	}
	return false;
}
