/* SPDX-License-Identifier: MIT */
/*
 * Collects locations, or the reason why there are none.
 */
#include "found.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void found_refuse(struct symbol_found *found, int status, const char *format, ...)
{
	va_list arguments;

	found_done(found);
	found->status = status;
	va_start(arguments, format);
	vsnprintf(found->error.text, sizeof(found->error.text), format, arguments);
	va_end(arguments);
}

void found_add(struct symbol_found *found, struct symbol_location location)
{
	struct symbol_location *grown;

	if (found->status) {
		free(location.arguments);
		return;
	}
	grown = reallocarray(found->locations, found->count + 1, sizeof(*grown));
	if (grown && found->count < SYMBOL_LOCATIONS_MAX) {
		found->locations = grown;
		grown[found->count++] = location;
		return;
	}
	found->locations = grown ? grown : found->locations;
	free(location.arguments);
	found_refuse(found, -E2BIG, "it is at more than %d locations", SYMBOL_LOCATIONS_MAX);
}

void found_done(struct symbol_found *found)
{
	for (size_t i = 0; i < found->count; i++)
		free(found->locations[i].arguments);
	free(found->locations);
	*found = (struct symbol_found){ 0 };
}
