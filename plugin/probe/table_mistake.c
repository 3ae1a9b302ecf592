/* SPDX-License-Identifier: MIT */
/*
 * Reports lines of a Probe block that have no effect on the tables of its probe.
 */
#include "table_mistake.h"

#include "object/object.h"
#include "util/message.h"

#include <stdio.h>
#include <string.h>

#define LABELED_MAX 64 /* tables of keys that are checked for mistakes in labels */

/* Rows has an effect only on a table that assigns rows. */
static void check_rows_option(const struct probe *probe)
{
	bool has = false;

	for (size_t i = 0; i < probe->table_count; i++)
		has |= table_gives_rows(&probe->tables[i]);
	if (probe->block->rows && !has)
		message(LOG_ERR,
			"probe %s: ignoring Rows %u: all its services have rows, and its keys name none",
			probe->name, probe->block->rows);
}

static void check_table_labels(const struct probe *probe)
{
	const struct labels *labels[LABELED_MAX];
	size_t count = 0;

	for (size_t i = 0; i < probe->table_count && count < LABELED_MAX; i++)
		if (probe->tables[i].schema.labels.count)
			labels[count++] = &probe->tables[i].schema.labels;
	label_choice_check(probe->block, labels, count, probe->name);
}

/* Reports Table blocks of maps that the object does not have. */
static void check_table_blocks(const struct probe *probe)
{
	for (size_t i = 0; i < probe->block->table_count; i++) {
		const char *name = probe->block->tables[i].map;
		const struct bpf_map *map = object_map(&probe->object, name), *other;
		char maps[512] = "";

		if (map && !bpf_map__is_internal(map))
			continue;
		bpf_object__for_each_map(other, probe->object.bpf)
		{
			size_t length = strlen(maps);

			if (!bpf_map__is_internal(other))
				snprintf(maps + length, sizeof(maps) - length, "%s\"%s\"",
					 length ? ", " : "", bpf_map__name(other));
		}
		message(LOG_ERR,
			"probe %s: ignoring <Table \"%s\">: its object has no map of this name, "
			"but %s",
			probe->name, name, maps[0] ? maps : "none at all");
	}
}

void table_mistakes_log(const struct probe *probe)
{
	check_rows_option(probe);
	check_table_labels(probe);
	check_table_blocks(probe);
}
