/* SPDX-License-Identifier: MIT */
/*
 * The kinds of subjects that rows stand for: which subject owns a row, and its name.
 */
#include "kind.h"

#include "keys.h"

#include <stdio.h>
#include <string.h>

static int resolve_probe(__attribute__((unused)) const struct snapshot *snapshot, uint32_t row)
{
	return (int)row;
}

static void name_subject_row(__attribute__((unused)) const struct table *table,
			     const struct snapshot *snapshot,
			     __attribute__((unused)) const char *probe, size_t i,
			     struct series_name *ret_name)
{
	memcpy(ret_name->subject, snapshot->subjects.subject[i].name, sizeof(ret_name->subject));
	ret_name->labels = "";
}

static void name_probe_row(const struct table *table,
			   __attribute__((unused)) const struct snapshot *snapshot,
			   const char *probe, size_t i, struct series_name *ret_name)
{
	if (table->rows.count > 1)
		snprintf(ret_name->subject, sizeof(ret_name->subject), "%s-%zu", probe, i);
	else
		snprintf(ret_name->subject, sizeof(ret_name->subject), "%s", probe);
	ret_name->labels = "";
}

static void name_key_row(const struct table *table,
			 __attribute__((unused)) const struct snapshot *snapshot, const char *probe,
			 size_t i, struct series_name *ret_name)
{
	const struct key_name *name = &table->keys.name[i];

	snprintf(ret_name->subject, sizeof(ret_name->subject), "%s",
		 name->subject[0] ? name->subject : probe);
	ret_name->labels = name->labels;
}

static bool always_follows(__attribute__((unused)) const struct table *table)
{
	return true;
}

static bool never_follows(__attribute__((unused)) const struct table *table)
{
	return false;
}

static const struct kind kinds[] = {
	[SUBJECT_SERVICE] = { snapshot_subject, name_subject_row, always_follows },
	[SUBJECT_PROCESS] = { snapshot_process_subject, name_subject_row, always_follows },
	[SUBJECT_PROBE] = { resolve_probe, name_probe_row, never_follows },
	[SUBJECT_KEY] = { NULL, name_key_row, keys_follow_services },
};

const struct kind *row_kind_of(enum subject_kind kind)
{
	return &kinds[kind];
}
