/* SPDX-License-Identifier: MIT */
/*
 * Which table owns which series. Two tables with a series in common would both write into one file,
 * so the later one is refused when its probe opens.
 */
#include "registry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Can they be the same name, part by part? */
static bool can_be_equal(const char *a, const char *b)
{
	for (;;) {
		size_t length = strcspn(a, "-"), other = strcspn(b, "-");
		bool any = *a == SERIES_ANY_LABEL[0] || *b == SERIES_ANY_LABEL[0];

		if (!any && (length != other || strncmp(a, b, length) != 0))
			return false;
		a += length;
		b += other;
		if (!*a || !*b)
			return *a == *b;
		a++;
		b++;
	}
}

/* Like find_twice() and find_common(), for names that contain labels. */
static const char *find_labelled(const struct series_set *a, const struct series_set *b)
{
	for (size_t i = 0; i < a->count; i++)
		for (size_t j = a == b ? i + 1 : 0; j < b->count; j++)
			if (can_be_equal(a->series[i], b->series[j]))
				return a->series[i];
	return NULL;
}

/* The first name that occurs twice, or NULL. */
static const char *find_twice(const struct series_set *set)
{
	if (set->has_labels)
		return find_labelled(set, set);
	for (size_t i = 1; i < set->count; i++)
		if (!strcmp(set->series[i - 1], set->series[i]))
			return set->series[i];
	return NULL;
}

/* The first name that is in both sets, or NULL. */
static const char *find_common(const struct series_set *a, const struct series_set *b)
{
	size_t i = 0, j = 0;

	if (a->has_labels || b->has_labels)
		return find_labelled(a, b);
	while (i < a->count && j < b->count) {
		int order = strcmp(a->series[i], b->series[j]);

		if (order == 0)
			return a->series[i];
		i += order < 0;
		j += order > 0;
	}
	return NULL;
}

/* The name of a subject that rows of both tables can stand for, or NULL. */
static const char *find_subject(const struct subjects *subjects, const struct series_set *a,
				const struct series_set *b)
{
	enum subject_kind kind = a->rows.kind;

	if (kind == SUBJECT_KEY || b->rows.kind == SUBJECT_KEY)
		return "subjects that keys name";
	if (kind == SUBJECT_PROBE && b->rows.kind == SUBJECT_SERVICE)
		return subjects_find_reserved(subjects, SUBJECT_SERVICE, &a->rows);
	if (kind == SUBJECT_SERVICE && b->rows.kind == SUBJECT_PROBE)
		return subjects_find_reserved(subjects, SUBJECT_SERVICE, &b->rows);
	if (kind != b->rows.kind)
		return NULL;
	if (kind == SUBJECT_PROBE)
		return subject_names_overlap(&a->rows, &b->rows) ? b->rows.name : NULL;
	return kind == SUBJECT_SERVICE ? "services" : "processes";
}

static int check_set(const struct registry *registry, const struct subjects *subjects,
		     const struct series_set *set, struct error *error)
{
	const char *series = find_twice(set);

	if (series)
		return error_set(error, -EEXIST,
				 "map %s: two of its series are called %s; change one of the tags",
				 set->map, series);
	for (size_t i = 0; i < registry->count; i++) {
		const struct series_set *other = &registry->set[i];
		const char *subject = find_subject(subjects, set, other);

		series = subject ? find_common(set, other) : NULL;
		if (series)
			return error_set(error, -EEXIST,
					 "map %s: the series %s of %s are those of map %s of the "
					 "probe %s already; switch one of the probes off, rename "
					 "it, or change its tag",
					 set->map, series, subject, other->map, other->probe);
	}
	return 0;
}

int registry_enter(struct registry *registry, struct subjects *subjects, struct series_set *set,
		   struct error *error)
{
	int status = check_set(registry, subjects, set, error);
	struct series_set *grown =
		status ? NULL : reallocarray(registry->set, registry->count + 1, sizeof(*grown));

	if (!grown) {
		status = status ?: error_set(error, -ENOMEM, "map %s: no memory", set->map);
		series_set_done(set);
		return status;
	}
	registry->set = grown;
	registry->set[registry->count++] = *set;
	return 0;
}

void series_set_done(struct series_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		free(set->series[i]);
	free(set->series);
	*set = (struct series_set){ 0 };
}

void registry_remove(struct registry *registry, const void *owner)
{
	size_t count = 0;

	for (size_t i = 0; i < registry->count; i++) {
		if (registry->set[i].owner == owner)
			series_set_done(&registry->set[i]);
		else
			registry->set[count++] = registry->set[i];
	}
	registry->count = count;
}

void registry_done(struct registry *registry)
{
	for (size_t i = 0; i < registry->count; i++)
		series_set_done(&registry->set[i]);
	free(registry->set);
	*registry = (struct registry){ 0 };
}
