/* SPDX-License-Identifier: MIT */
/*
 * Collects the names of code at one address.
 */
#include "naming.h"

#include "demangle.h"
#include "helper/symbol_message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void append_function(struct naming *naming, const char *name, size_t length)
{
	size_t cut = length < NAMING_FUNCTION_MAX ? length : NAMING_FUNCTION_MAX;
	size_t at = naming->size ? naming->size + 1 : 0;
	char *grown;

	if (cut == 0 || at + cut >= SYMBOL_NAMED_MAX)
		return;
	grown = realloc(naming->bytes, at + cut);
	if (!grown)
		return;
	naming->bytes = grown;
	if (at)
		grown[at - 1] = '\0';
	memcpy(grown + at, name, cut);
	if (cut < length)
		memcpy(grown + at + cut - 3, "...", 3);
	naming->size = at + cut;
}

void naming_add(struct naming *naming, const char *name, size_t length, const char *suffix)
{
	char *mangled = strndup(name, length), *whole = NULL;
	char *source = mangled ? demangle(mangled, false) : NULL;
	int size = mangled ? asprintf(&whole, "%s%s", source ? source : mangled, suffix) : -1;

	if (size >= 0) {
		append_function(naming, whole, (size_t)size);
		free(whole);
	}
	free(source);
	free(mangled);
}

void naming_done(struct naming *namings, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(namings[i].bytes);
		namings[i] = (struct naming){ 0 };
	}
}
