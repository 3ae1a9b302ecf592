/* SPDX-License-Identifier: MIT */
/*
 * The text of a notification. Records contain what anybody may have chosen, above all command
 * names, and the text may be read by a terminal, a web page or a shell script.
 */
#include "event.h"

#include "util/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Invisible characters: they change the direction of a line, break it, or hide in it (Unicode's
 * bidirectional controls, separators and characters of no width). */
static bool is_invisible(const char *letter)
{
	static const struct {
		char first[4], last[4];
	} ranges[] = {
		{ "\xc2\xad", "\xc2\xad" },         /* U+00AD */
		{ "\xd8\x9c", "\xd8\x9c" },         /* U+061C */
		{ "\xe2\x80\x8b", "\xe2\x80\x8f" }, /* U+200B to 200F */
		{ "\xe2\x80\xa8", "\xe2\x80\xae" }, /* U+2028 to 202E */
		{ "\xe2\x81\xa0", "\xe2\x81\xaf" }, /* U+2060 to 206F */
		{ "\xef\xbb\xbf", "\xef\xbb\xbf" }, /* U+FEFF */
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		size_t length = strlen(ranges[i].first);

		if (strncmp(letter, ranges[i].first, length) >= 0 &&
		    strncmp(letter, ranges[i].last, length) <= 0)
			return true;
	}
	return false;
}

/* Replaces by '_' what markup or a shell would interpret, and what is invisible. The text is
 * UTF-8. */
static void replace_unsafe(char *text)
{
	char *to = text;

	while (*text) {
		bool invisible = is_invisible(text);

		*to++ = invisible || strchr("<>&\"'`$\\|;{}", *text) ? '_' : *text;
		text++;
		while (((unsigned char)*text & 0xc0) == 0x80) {
			if (!invisible)
				*to++ = *text;
			text++;
		}
	}
	*to = '\0';
}

static uint64_t field_number(const struct event_field *field, const unsigned char *record)
{
	uint64_t n = 0;

	/* Only objects of the machine's own byte order are opened. A record may be unaligned. */
	switch (field->size) {
	case 1:
		return record[field->offset];
	case 2: {
		uint16_t narrow;
		memcpy(&narrow, record + field->offset, sizeof(narrow));
		return narrow;
	}
	case 4: {
		uint32_t narrow;
		memcpy(&narrow, record + field->offset, sizeof(narrow));
		return narrow;
	}
	default:
		memcpy(&n, record + field->offset, sizeof(n));
		return n;
	}
}

static int64_t field_signed_number(const struct event_field *field, const unsigned char *record)
{
	unsigned shift = 64 - 8 * field->size;

	return (int64_t)(field_number(field, record) << shift) >> shift;
}

static void write_string(const struct event_field *field, const unsigned char *record, char *text,
			 size_t size)
{
	char raw[EVENT_STRING_MAX];
	size_t length = field->size < sizeof(raw) ? field->size : sizeof(raw) - 1;

	memcpy(raw, record + field->offset, length);
	raw[length] = '\0';
	utf8_clean(text, size, raw);
	replace_unsafe(text);
}

static void write_bytes(uint64_t bytes, char *text, size_t size)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double n = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes < 1024) {
		snprintf(text, size, "%" PRIu64 " bytes", bytes);
		return;
	}
	for (; n >= 1024 && unit + 1 < sizeof(units) / sizeof(*units); unit++)
		n /= 1024;
	snprintf(text, size, "%.1f %s", n, units[unit]);
}

/* The enumerator with this value, as it is written in BTF; NULL: there is none. */
static const char *enumerator_of(const struct event *event, const struct event_field *field,
				 uint64_t value)
{
	const struct btf_type *type = btf__type_by_id(event->btf, field->type);

	for (int i = 0; type && i < btf_vlen(type); i++) {
		bool wide = btf_is_enum64(type);
		uint64_t n = wide ? btf_enum64_value(btf_enum64(type) + i)
				  : (uint64_t)(uint32_t)btf_enum(type)[i].val;
		uint32_t name = wide ? btf_enum64(type)[i].name_off : btf_enum(type)[i].name_off;

		if (n == value)
			return btf__name_by_offset(event->btf, name);
	}
	return NULL;
}

static void write_enum(const struct event *event, const struct event_field *field, uint64_t value,
		       char *text, size_t size)
{
	const char *name = enumerator_of(event, field, value);

	if (!name) {
		snprintf(text, size, "%" PRIu64, value);
		return;
	}
	utf8_clean(text, size, name);
	replace_unsafe(text);
	for (; *text; text++)
		*text = (char)(*text == '_'                   ? ' '
			       : *text >= 'A' && *text <= 'Z' ? *text - 'A' + 'a'
							      : *text);
}

static void write_field(const struct event *event, const struct event_field *field,
			const unsigned char *record, const char *service, char *text, size_t size)
{
	switch (field->kind) {
	case FIELD_UNSIGNED:
		snprintf(text, size, "%" PRIu64, field_number(field, record));
		break;
	case FIELD_SIGNED:
		snprintf(text, size, "%" PRId64, field_signed_number(field, record));
		break;
	case FIELD_BYTES:
		write_bytes(field_number(field, record), text, size);
		break;
	case FIELD_ENUM:
		write_enum(event, field, field_number(field, record), text, size);
		break;
	case FIELD_STRING:
		write_string(field, record, text, size);
		break;
	case FIELD_SERVICE:
		utf8_clean(text, size, service);
		replace_unsafe(text);
		break;
	}
}

/* Removes the partial UTF-8 sequence that a cut text may have last. */
static void drop_partial_character(char *text, size_t length)
{
	while (length && (unsigned char)text[length - 1] >= 0x80)
		text[--length] = '\0';
}

bool event_row(const struct event *event, const void *record, uint32_t *ret_row)
{
	if (event->has_service)
		*ret_row = (uint32_t)field_number(&event->service, record);
	return event->has_service;
}

void event_text(const struct event *event, const void *record, const char *service, char *text,
		size_t size)
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < event->part_count; i++) {
		const struct event_part *part = &event->parts[i];
		char value[EVENT_STRING_MAX] = "";

		if (part->has_field)
			write_field(event, &part->field, record, service, value, sizeof(value));
		if ((size_t)snprintf(text + length, size - length, "%s%s", part->before, value) >=
		    size - length) {
			drop_partial_character(text, size - 1);
			return;
		}
		length += strlen(text + length);
	}
}
