/* SPDX-License-Identifier: MIT */
/*
 * Functions, markers and offsets: where they are, what the first instruction is, and, of a function
 * of Go, where it returns.
 */
#include "find.h"

#include "code.h"
#include "found.h"
#include "function.h"
#include "go.h"
#include "marker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CODE_MAX (4UL << 20) /* bytes of one function */

/* Adds the instructions that return from the function. */
static void add_returns(const struct image *image, uint64_t address, uint64_t end,
			struct symbol_found *found)
{
	uint64_t begin = found->places[0].offset;
	size_t size = end > address && end - address <= CODE_MAX ? (size_t)(end - address) : 0;
	unsigned char *code = size ? malloc(size) : NULL;
	size_t at = 0;

	if (code && image_read(image, begin, code, size) != size)
		size = 0;
	while (code && at < size) {
		size_t length = code_length(code + at, size - at);

		if (length == 0)
			break;
		if (code_is_return(code + at, length))
			found_add(found, (struct symbol_place){ .offset = begin + at,
								.flags = SYMBOL_RETURN });
		at += length;
	}
	free(code);
	if (found->status == 0 && (size == 0 || at != size))
		found_refuse(found, -EOPNOTSUPP,
			     "it is a function of Go, and where it returns cannot be found; do "
			     "without what needs the return");
	else if (found->status == -E2BIG)
		found_refuse(found, -E2BIG,
			     "it is a function of Go that returns in more than %d places",
			     SYMBOL_PLACES_MAX - 1);
}

static void look_at_code(const struct image *image, const struct symbol_wanted *wanted,
			 struct symbol_found *found)
{
	uint64_t address = 0, end = 0;

	for (size_t i = 0; i < found->count; i++) {
		struct symbol_place *place = &found->places[i];
		unsigned char code[CODE_INSTRUCTION_MAX];
		size_t size;

		if (__builtin_add_overflow(place->offset, wanted->offset, &place->offset) ||
		    image_address(image, place->offset, &address) ||
		    (size = image_read(image, place->offset, code, sizeof(code))) == 0) {
			found_refuse(found, -EFAULT, "there is no code at this offset");
			return;
		}
		if (code_is_stepped(code, size))
			place->flags |= SYMBOL_STEPPED;
	}
	if (found->count == 0 || wanted->kind != SYMBOL_FUNCTION || !go_has(image, address, &end))
		return;
	found->places[0].flags |= SYMBOL_GO;
	if (wanted->returns)
		add_returns(image, address, end, found);
}

int symbols_find(const struct image *image, const struct symbol_wanted *wanted, size_t count,
		 struct symbol_found *ret_found)
{
	int status;

	memset(ret_found, 0, count * sizeof(*ret_found));
	status = functions_find(image, wanted, count, ret_found);
	for (size_t i = 0; i < count && status == 0; i++) {
		if (wanted[i].kind == SYMBOL_MARKER)
			marker_find(image, &wanted[i], &ret_found[i]);
		else if (!wanted[i].name)
			found_add(&ret_found[i], (struct symbol_place){ 0 });
		look_at_code(image, &wanted[i], &ret_found[i]);
	}
	return status;
}
