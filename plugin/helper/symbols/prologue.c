/* SPDX-License-Identifier: MIT */
/*
 * The check with which functions of Go begin: it compares the stack pointer with a limit, and branches to
 * where runtime.morestack is called and then the function's begin jumped to (cmd/internal/obj/x86/obj6.go,
 * stacksplit). A frame that is large needs two branches.
 */
#include "prologue.h"

#include "code.h"

#include <elf.h>

#define CHECK_MAX 48  /* bytes of code: enough for the check of a large frame */
#define AGAIN_MAX 512 /* likewise, to keep arguments, to call, and to jump */

struct code {
	unsigned char bytes[AGAIN_MAX];
	size_t size;
	uint64_t address;
};

static bool read_code(const struct image *image, uint64_t address, size_t most,
		      struct code *ret_code)
{
	uint64_t offset;

	*ret_code = (struct code){ .address = address };
	if (image_offset(image, PF_X, address, &offset))
		return false;
	ret_code->size = image_read(image, offset, ret_code->bytes, most);
	return true;
}

/* Does the function begin again where this leads to? */
static bool begins_again(const struct image *image, const struct range *range, uint64_t address)
{
	struct code code;
	uint64_t target;
	bool always;

	if (address <= range->begin || address >= range->end ||
	    !read_code(image, address, sizeof(code.bytes), &code))
		return false;
	for (size_t at = 0, length; at < code.size; at += length) {
		length = code_length(code.bytes + at, code.size - at);
		if (length == 0)
			return false;
		if (!code_jumps(code.bytes + at, length, address + at, &target, &always))
			continue;
		return always && target == range->begin;
	}
	return false;
}

uint64_t prologue_size(const struct image *image, const struct range *range)
{
	uint64_t target, again = 0, size = 0;
	struct code code;
	bool always;

	if (!read_code(image, range->begin, CHECK_MAX, &code))
		return 0;
	for (size_t at = 0, length; at < code.size; at += length) {
		length = code_length(code.bytes + at, code.size - at);
		if (length == 0)
			break;
		if (!code_jumps(code.bytes + at, length, range->begin + at, &target, &always))
			continue;
		if (always || (again ? target != again : !begins_again(image, range, target)))
			break;
		again = target;
		size = at + length;
	}
	return size;
}
