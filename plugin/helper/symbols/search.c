/* SPDX-License-Identifier: MIT */
/*
 * Finds functions, markers and offsets, and inspects the code there: whether it is Go's, what the
 * first instruction is, and where the function returns.
 */
#include "search.h"

#include "found.h"
#include "function_search.h"
#include "go.h"
#include "instruction.h"
#include "marker.h"
#include "prologue.h"
#include "returns.h"

#include <errno.h>
#include <string.h>

static void inspect_function(const struct image *image, const struct symbol_wanted *wanted,
			     uint64_t address, struct symbol_found *found)
{
	struct symbol_location *entry = &found->locations[0];
	struct code_range range;

	if (go_has(image, address, &range)) {
		entry->flags |= SYMBOL_GO;
		if (wanted->name && range.begin == address)
			entry->offset += prologue_size(image, &range);
	}
	if (wanted->returns)
		returns_add(image, address, found);
}

static bool inspect_instruction(const struct image *image, struct symbol_location *location)
{
	unsigned char code[INSTRUCTION_SIZE_MAX];
	size_t size = image_read(image, location->offset, code, sizeof(code));

	if (instruction_is_single_step(code, size))
		location->flags |= SYMBOL_SINGLE_STEP;
	return size != 0;
}

static void inspect_locations(const struct image *image, const struct symbol_wanted *wanted,
			      struct symbol_found *found)
{
	size_t count = found->count; /* without returns, which are added behind */
	bool is_code = true;

	for (size_t i = 0; i < count && is_code; i++) {
		uint64_t address;

		is_code = !__builtin_add_overflow(found->locations[i].offset, wanted->offset,
						  &found->locations[i].offset) &&
			  image_address(image, found->locations[i].offset, &address) == 0;
		if (is_code && wanted->kind == SYMBOL_FUNCTION)
			inspect_function(image, wanted, address, found);
		is_code = is_code && inspect_instruction(image, &found->locations[i]);
	}
	if (!is_code)
		found_refuse(found, -EFAULT, "no code is at this offset");
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
			found_add(&ret_found[i], (struct symbol_location){ 0 });
		inspect_locations(image, &wanted[i], &ret_found[i]);
	}
	return status;
}
