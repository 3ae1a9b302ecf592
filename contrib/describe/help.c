/* SPDX-License-Identifier: MIT */
/*
 * Parses HELP and UNIT tags. Pages are made of their texts, so this refuses what would be markup
 * there.
 */
#include "help.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static bool is_plain_text(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] < ' ' || text[i] > '~' || text[i] == '|')
			return false;
	return length && text[0] != ' ' && text[length - 1] != ' ';
}

static int copy_text(const char *what, const char *text, size_t length, char *to, size_t size,
		     struct error *error)
{
	if (!is_plain_text(text, length) || length >= size)
		return error_set(error, -EINVAL,
				 "%s has 1 to %zu bytes of printable ASCII without |, and no space "
				 "at its ends",
				 what, size - 1);
	memcpy(to, text, length);
	to[length] = '\0';
	return 0;
}

int help_parse(const char *text, struct help *ret_help, struct error *error)
{
	const char *colon = strstr(text, ": ");
	struct help help = { 0 };
	int status = copy_text("the title of a HELP", text,
			       colon ? (size_t)(colon - text) : strlen(text), help.title,
			       sizeof(help.title), error);

	if (status == 0 && colon)
		status = copy_text("the text of a HELP", colon + 2, strlen(colon + 2), help.text,
				   sizeof(help.text), error);
	if (status == 0)
		*ret_help = help;
	return status;
}

int help_unit(const char *text, char ret_unit[HELP_UNIT_MAX], struct error *error)
{
	return copy_text("a UNIT", text, strlen(text), ret_unit, HELP_UNIT_MAX, error);
}
