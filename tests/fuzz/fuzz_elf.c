/* SPDX-License-Identifier: MIT */
/*
 * An ELF file in which a function or a marker is searched. The first line of the input is the name,
 * that of a marker if it has a single colon.
 */
#include "fuzz.h"

#include "plugin/helper/symbols/found.h"
#include "plugin/helper/symbols/search.h"

#include <stdlib.h>
#include <string.h>

static void check(const struct symbol_found *found, size_t size)
{
	bool is_whole = found->count > 0 && !(found->locations[0].flags & SYMBOL_NO_RETURNS);

	FUZZ_WANT((found->status == 0) == (found->count > 0));
	FUZZ_WANT(is_whole == (found->error.text[0] == '\0'));
	for (size_t i = 0; i < found->count; i++) {
		FUZZ_WANT(found->locations[i].offset < size);
		FUZZ_WANT(i == 0 || found->locations[i].flags || found->locations[0].arguments);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	size_t length = end ? (size_t)(end - data) : 0, left = size - length - 1;
	struct symbol_wanted wanted = { .returns = true };
	struct symbol_found found;
	struct image image;
	char *name, *bytes;

	if (!end)
		return 0;
	name = fuzz_text(data, length);
	bytes = fuzz_text(end + 1, left);
	wanted.name = name;
	wanted.kind = strchr(name, ':') && !strstr(name, "::") ? SYMBOL_MARKER : SYMBOL_FUNCTION;
	if (image_open_bytes(&image, bytes, left) == 0) {
		if (symbols_find(&image, &wanted, 1, &found) == 0)
			check(&found, left);
		found_done(&found);
		image_close(&image);
	}
	free(bytes);
	free(name);
	return 0;
}
