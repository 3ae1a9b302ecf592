/* SPDX-License-Identifier: MIT */
/*
 * The stack check at the start of Go functions. It compares the stack pointer with a limit, and
 * branches to code that calls runtime.morestack and jumps back to the start
 * (cmd/internal/obj/x86/obj6.go, stacksplit). A large frame needs two branches.
 */
#include "prologue.h"

#include "instruction.h"

#include <elf.h>

#define CHECK_MAX 48  /* bytes; enough for the check of a large frame */
#define AGAIN_MAX 512 /* bytes; enough to save arguments, to call and to jump back */

struct code_bytes {
	unsigned char bytes[AGAIN_MAX];
	size_t size;
	uint64_t address;
};

static bool read_code(const struct image *image, uint64_t address, size_t most,
		      struct code_bytes *ret_code)
{
	uint64_t offset;

	*ret_code = (struct code_bytes){ .address = address };
	if (image_offset(image, PF_X, address, &offset))
		return false;
	ret_code->size = image_read(image, offset, ret_code->bytes, most);
	return true;
}

/* Does the code at this address jump back to the start of the function? */
static bool jumps_to_start(const struct image *image, const struct code_range *range,
			   uint64_t address)
{
	struct code_bytes code;
	uint64_t destination;
	bool always;

	if (address <= range->begin || address >= range->end ||
	    !read_code(image, address, sizeof(code.bytes), &code))
		return false;
	for (size_t at = 0, length; at < code.size; at += length) {
		length = instruction_length(code.bytes + at, code.size - at);
		if (length == 0)
			return false;
		if (!instruction_jumps(code.bytes + at, length, address + at, &destination,
				       &always))
			continue;
		return always && destination == range->begin;
	}
	return false;
}

uint64_t prologue_size(const struct image *image, const struct code_range *range)
{
	uint64_t destination, enlarge = 0, size = 0;
	struct code_bytes code;
	bool always;

	if (!read_code(image, range->begin, CHECK_MAX, &code))
		return 0;
	for (size_t at = 0, length; at < code.size; at += length) {
		length = instruction_length(code.bytes + at, code.size - at);
		if (length == 0)
			break;
		if (!instruction_jumps(code.bytes + at, length, range->begin + at, &destination,
				       &always))
			continue;
		if (always ||
		    (enlarge ? destination != enlarge : !jumps_to_start(image, range, destination)))
			break;
		enlarge = destination;
		size = at + length;
	}
	return size;
}
