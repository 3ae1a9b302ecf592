/* SPDX-License-Identifier: MIT */
/*
 * Parses the prefix of a class of responses: a byte stands for itself, ? for any byte, \xHH for a byte by its
 * number, \? and \\ for a question mark and a backslash.
 */
#include "response_rule.h"

#include "name.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANY_BYTE -1
#define NO_BYTE -2

static bool is_class_name(const char *name)
{
	size_t length = strlen(name);

	if (length == 0 || length >= RESPONSE_CLASS_SIZE)
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_')
			return false;
	return true;
}

static bool is_hex_byte(const char *text)
{
	return isxdigit((unsigned char)text[0]) && isxdigit((unsigned char)text[1]);
}

/* Parses what follows a backslash. */
static int parse_escaped_byte(const char **at)
{
	char digits[3] = "";
	const char *from = *at;

	if (*from == '\\' || *from == '?') {
		*at += 1;
		return *from;
	}
	if (*from != 'x' || !is_hex_byte(from + 1))
		return NO_BYTE;
	memcpy(digits, from + 1, 2);
	*at += 3;
	return (int)strtol(digits, NULL, 16);
}

/* The next byte, ANY_BYTE or NO_BYTE. */
static int parse_prefix_byte(const char **at)
{
	char c = *(*at)++;

	if (c == '\\')
		return parse_escaped_byte(at);
	return c == '?' ? ANY_BYTE : (unsigned char)c;
}

static bool parse_prefix(const char *text, struct response_rule *rule, char *why, size_t size)
{
	unsigned char *bytes = (unsigned char *)rule->bytes, *mask = (unsigned char *)rule->mask;

	for (; *text; rule->length++) {
		int next = parse_prefix_byte(&text);

		if (next == NO_BYTE) {
			snprintf(why, size,
				 "after a backslash come x and two hexadecimal digits, a question "
				 "mark or another backslash; each backslash is written twice");
			return false;
		}
		if (rule->length == RESPONSE_BYTES_MAX) {
			snprintf(why, size, "only the first %d bytes of a response are compared",
				 RESPONSE_BYTES_MAX);
			return false;
		}
		bytes[rule->length] = next == ANY_BYTE ? 0 : (unsigned char)next;
		mask[rule->length] = next == ANY_BYTE ? 0 : 0xff;
	}
	return true;
}

bool response_rule_parse(const char *class_name, const char *text, struct response_rule *ret_rule,
			 char *why, size_t size)
{
	struct response_rule rule = { .length = 0 };

	if (!is_class_name(class_name)) {
		snprintf(why, size,
			 "a class is named by letters, digits and underscores, %d at most",
			 RESPONSE_CLASS_SIZE - 1);
		return false;
	}
	if (name_is_reserved(class_name)) {
		snprintf(why, size, "this class is reserved, choose another");
		return false;
	}
	if (!parse_prefix(text, &rule, why, size))
		return false;
	strcpy(rule.class_name, class_name);
	*ret_rule = rule;
	return true;
}

bool response_rule_covers(const struct response_rule *rule, const struct response_rule *later)
{
	bool covers = rule->length <= later->length;

	for (size_t i = 0; i < RESPONSE_WORDS; i++)
		covers = covers && !(rule->mask[i] & ~later->mask[i]) &&
			 !((rule->bytes[i] ^ later->bytes[i]) & rule->mask[i]);
	return covers;
}

bool response_rule_lost_backslash(const char *text)
{
	for (char before = '\0'; *text; before = *text++)
		if (*text == 'x' && before != '\\' && is_hex_byte(text + 1))
			return true;
	return false;
}
