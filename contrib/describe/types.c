/* SPDX-License-Identifier: MIT */
/*
 * Reads collectd's types.db without a collectd.
 */
#include "types.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n"

static FILE *file;

int types_open(const char *path)
{
	file = fopen(path, "re");
	return file ? 0 : -errno;
}

/* NAME:KIND:MIN:MAX */
static int parse_data_source(const char *text, struct metric_type *type)
{
	static const char *const kinds[] = {
		[SOURCE_COUNTER] = "COUNTER",
		[SOURCE_GAUGE] = "GAUGE",
		[SOURCE_DERIVE] = "DERIVE",
		[SOURCE_ABSOLUTE] = "ABSOLUTE",
	};
	size_t name = strcspn(text, ":"), size = sizeof(type->source->name);
	const char *kind = text + name + (text[name] == ':');

	if (type->source_count == SCHEMA_SOURCES_MAX)
		return -E2BIG;
	if (name >= size)
		return -ENOENT;
	memcpy(type->source[type->source_count].name, text, name);
	type->source[type->source_count].name[name] = '\0';
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcspn(kind, ":") == strlen(kinds[i]) &&
		    strncmp(kind, kinds[i], strlen(kinds[i])) == 0) {
			type->source[type->source_count++].kind = (enum source_kind)i;
			return 0;
		}
	return -ENOENT;
}

/* 1: the line is about another type. */
static int parse_type_line(char *line, const char *name, struct metric_type *type)
{
	char *next = NULL, *word = strtok_r(line, BLANKS, &next);
	int status = 0;

	if (!word || strcmp(word, name) != 0)
		return 1;
	while (status == 0 && (word = strtok_r(NULL, BLANKS ",", &next)))
		status = parse_data_source(word, type);
	return status ?: type->source_count ? status : -ENOENT;
}

int types_lookup(const char *type, struct metric_type *ret_type)
{
	struct metric_type found = { 0 };
	char *line = NULL;
	size_t size = 0;
	int status = 1;

	rewind(file);
	while (status > 0 && getline(&line, &size, file) >= 0)
		status = parse_type_line(line, type, &found);
	free(line);
	if (status == 0)
		*ret_type = found;
	return status > 0 ? -ENOENT : status;
}
