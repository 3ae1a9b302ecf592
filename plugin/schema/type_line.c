/* SPDX-License-Identifier: MIT */
/*
 * A line of collectd's types.db.
 */
#include "type_line.h"

#include <errno.h>
#include <string.h>

#define BLANKS " \t\r\n"

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

int type_line_parse(char *line, const char *name, struct metric_type *ret_type)
{
	char *next = NULL, *word = strtok_r(line, BLANKS, &next);
	struct metric_type type = { 0 };
	int status = 0;

	if (!word || strcmp(word, name) != 0)
		return 1;
	while (status == 0 && (word = strtok_r(NULL, BLANKS ",", &next)))
		status = parse_data_source(word, &type);
	if (status == 0 && type.source_count == 0)
		status = -ENOENT;
	if (status == 0)
		*ret_type = type;
	return status;
}
