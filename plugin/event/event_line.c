/* SPDX-License-Identifier: MIT */
/*
 * A line of the event file. Names and texts contain what anybody may have chosen: they neither end a string or the
 * line, nor reach a terminal as control characters.
 */
#include "event_line.h"

#include "util/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Control characters and bytes that are no UTF-8 become '_'. Returns how many bytes it has written: two at most for
 * each byte of the text. */
static size_t write_json_string(char *to, const char *text)
{
	char *at = to;

	*at++ = '"';
	while (*text) {
		size_t length = utf8_letter_length(text);
		unsigned char c = (unsigned char)*text;

		if (length == 0 || c < 0x20 || c == 0x7f) {
			*at++ = '_';
			text++;
			continue;
		}
		if (c == '"' || c == '\\')
			*at++ = '\\';
		memcpy(at, text, length);
		at += length;
		text += length;
	}
	*at++ = '"';
	return (size_t)(at - to);
}

size_t event_line_write(const struct event_line *line, char to[EVENT_LINE_MAX])
{
	static const char *const severities[] = {
		[HEALTH_OKAY] = "okay",
		[HEALTH_WARNING] = "warning",
		[HEALTH_FAILURE] = "failure",
	};
	const struct {
		const char *name, *text;
	} members[] = {
		{ "host", line->host },     { "service", line->service },
		{ "kind", line->kind },     { "severity", severities[line->health] },
		{ "series", line->series }, { "text", line->text },
	};
	size_t length = (size_t)snprintf(to, EVENT_LINE_MAX, "{\"time\": %" PRIu64 ".%03u",
					 line->time_ms / 1000, (unsigned)(line->time_ms % 1000));

	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		length += (size_t)snprintf(to + length, EVENT_LINE_MAX - length,
					   ", \"%s\": ", members[i].name);
		length += write_json_string(to + length, members[i].text);
	}
	memcpy(to + length, "}\n", sizeof("}\n"));
	return length + 2;
}
