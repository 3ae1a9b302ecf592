/* SPDX-License-Identifier: MIT */
/*
 * What rows stand for: how many there are, whose each is, and what that is called.
 */
#include "kind.h"

#include "table.h"

#include <stdio.h>
#include <string.h>

static uint32_t count_services(__attribute__((unused)) const struct bpf_map *map,
			       const struct row_counts *counts)
{
	return counts->services;
}

static uint32_t count_processes(__attribute__((unused)) const struct bpf_map *map,
				const struct row_counts *counts)
{
	return counts->processes;
}

static uint32_t count_entries(const struct bpf_map *map,
			      __attribute__((unused)) const struct row_counts *counts)
{
	return bpf_map__max_entries(map);
}

static int resolve_probe(__attribute__((unused)) const struct snapshot *snapshot, uint32_t row)
{
	return (int)row;
}

static void name_subject(__attribute__((unused)) const struct table *table,
			 const struct snapshot *snapshot, __attribute__((unused)) const char *probe,
			 size_t i, struct series_name *ret_name)
{
	memcpy(ret_name->subject, snapshot->subjects.subject[i].name, sizeof(ret_name->subject));
	ret_name->labels = "";
}

static void name_probe(const struct table *table,
		       __attribute__((unused)) const struct snapshot *snapshot, const char *probe,
		       size_t i, struct series_name *ret_name)
{
	if (table->rows.count > 1)
		snprintf(ret_name->subject, sizeof(ret_name->subject), "%s-%zu", probe, i);
	else
		snprintf(ret_name->subject, sizeof(ret_name->subject), "%s", probe);
	ret_name->labels = "";
}

static void name_key(const struct table *table,
		     __attribute__((unused)) const struct snapshot *snapshot, const char *probe,
		     size_t i, struct series_name *ret_name)
{
	const struct key_name *name = &table->keys.name[i];

	snprintf(ret_name->subject, sizeof(ret_name->subject), "%s",
		 name->subject[0] ? name->subject : probe);
	ret_name->labels = name->labels;
}

static bool always(__attribute__((unused)) const struct table *table)
{
	return true;
}

static bool never(__attribute__((unused)) const struct table *table)
{
	return false;
}

static const struct kind kinds[] = {
	[SUBJECT_SERVICE] = { "service", count_services, snapshot_subject, name_subject, always },
	[SUBJECT_PROCESS] = { "process", count_processes, snapshot_process_subject, name_subject,
			      always },
	[SUBJECT_PROBE] = { "probe", count_entries, resolve_probe, name_probe, never },
	[SUBJECT_KEY] = { "key", count_entries, NULL, name_key, keys_follow_services },
};

#define KINDS (sizeof(kinds) / sizeof(*kinds))

const struct kind *kind_of(enum subject_kind kind)
{
	return &kinds[kind];
}

enum subject_kind kind_by_word(const char *word, size_t length)
{
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i].word && strlen(kinds[i].word) == length &&
		    !strncmp(kinds[i].word, word, length))
			return (enum subject_kind)i;
	return SUBJECT_NONE;
}
