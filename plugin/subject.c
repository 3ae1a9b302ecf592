/* SPDX-License-Identifier: MIT */
/*
 * Subjects by name. A place that becomes free is used again; its generation
 * tells tables that their sums for it are somebody else's.
 */
#include "subject.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void subject_clean(char *to, size_t size, const char *name)
{
	size_t i = 0;

	for (; name[i] && i + 1 < size; i++) {
		unsigned char c = (unsigned char)name[i];

		to[i] = c == '/' || c == ' ' || c < 0x20 || c == 0x7f ? '_' : (char)c;
	}
	if (i == 0 && size > 1)
		to[i++] = '_';
	to[i] = '\0';
	/* Neither the directory itself nor the one above. */
	for (i = 0; i < 2 && to[i] == '.'; i++)
		if (to[i + 1] == '\0')
			to[0] = '_';
}

static struct subject *free_place(struct subjects *subjects)
{
	struct subject *grown;

	for (size_t i = 0; i < subjects->count; i++)
		if (!subjects->place[i].used)
			return &subjects->place[i];
	grown = reallocarray(subjects->place, subjects->count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	subjects->place = grown;
	return &subjects->place[subjects->count++];
}

int subjects_enter(struct subjects *subjects, const char *name)
{
	char clean[SUBJECT_NAME_MAX];
	struct subject *s;

	subject_clean(clean, sizeof(clean), name);
	for (size_t i = 0; i < subjects->count; i++) {
		s = &subjects->place[i];
		if (s->used && !strcmp(s->name, clean)) {
			s->rows++;
			return (int)i;
		}
	}
	s = free_place(subjects);
	if (!s)
		return -ENOMEM;
	*s = (struct subject){ .used = true, .rows = 1, .generation = ++subjects->generation };
	memcpy(s->name, clean, sizeof(clean));
	return (int)(s - subjects->place);
}

void subjects_leave(struct subjects *subjects, size_t place)
{
	struct subject *s = &subjects->place[place];

	if (s->rows && --s->rows == 0)
		s->used = false;
}

bool subject_reserved(const char *name)
{
	return !strcmp(name, "other") || !strcmp(name, "kernel") || !strcmp(name, "self");
}

void subjects_done(struct subjects *subjects)
{
	free(subjects->place);
	*subjects = (struct subjects){ 0 };
}
