/* SPDX-License-Identifier: MIT */
/*
 * The types that the daemon's types.db lacks. Their probes are on; the series of these types are not
 * dispatched, and the log has the lines that types.db needs for them.
 */
#include "lacking.h"

#include "schema/stock_type.h"
#include "schema/tag.h"
#include "util/message.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TYPES_MAX 128
#define TEXT_MAX 940 /* of a message; collectd cuts longer ones */

static struct {
	char name[TAG_TEXT_MAX];
	bool is_needed;
} types[TYPES_MAX];
static size_t type_count;

/* The type's index, or type_count. */
static size_t find_type(const char *type)
{
	size_t i = 0;

	while (i < type_count && strcmp(types[i].name, type) != 0)
		i++;
	return i;
}

int lacking_add(const char *type)
{
	if (lacking_has(type))
		return 0;
	if (type_count == TYPES_MAX)
		return -ENOENT;
	types[type_count].is_needed = false;
	snprintf(types[type_count].name, sizeof(types->name), "%s", type);
	type_count++;
	return 0;
}

bool lacking_has(const char *type)
{
	return find_type(type) < type_count;
}

void lacking_need(const char *type)
{
	size_t i = find_type(type);

	if (i < type_count)
		types[i].is_needed = true;
}

/* Logs the lines of known types below a heading, or the names of others behind it: in as few messages
 * as collectd does not cut. */
static void log_types(bool known, const char *heading)
{
	char text[TEXT_MAX] = "";
	size_t length = 0;

	for (size_t i = 0; i < type_count; i++) {
		const char *line = stock_type_line(types[i].name);

		if (!types[i].is_needed || !line == known)
			continue;
		line = line ?: types[i].name;
		if (length && length + strlen(line) + 1 >= sizeof(text)) {
			message(LOG_ERR, "%s", text);
			length = 0;
		}
		if (!length)
			length = (size_t)snprintf(text, sizeof(text), "%s", heading);
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%c%s",
					   known ? '\n' : ' ', line);
	}
	if (length)
		message(LOG_ERR, "%s", text);
}

void lacking_log(void)
{
	log_types(true,
		  "types.db lacks these lines, or has others of these types, whose series are not "
		  "dispatched; make /usr/share/collectd/types.db the last TypesDB in "
		  "collectd.conf, or put the lines into your own file, and restart collectd:");
	log_types(false,
		  "types.db lacks these types, whose series are not dispatched; put a line of each "
		  "into a file that TypesDB names in collectd.conf, and restart collectd:");
}

void lacking_done(void)
{
	type_count = 0;
}
