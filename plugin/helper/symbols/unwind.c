/* SPDX-License-Identifier: MIT */
/*
 * Entries of .eh_frame, which say how to unwind the stack (Linux Standard Base, "Exception Frames"). The
 * index that the linker makes of them finds one; libdw, which has no call for how far one reaches,
 * knows the stack.
 */
#include "unwind.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#define STACK_POINTER 7 /* in DWARF */
#define ENTRY_OFFSET 8  /* the address to return to is on the stack */
#else
#define STACK_POINTER 31
#define ENTRY_OFFSET 0
#endif

#define SIZE_MASK 0x07 /* of an encoding: DW_EH_PE_udata2, _udata4, _udata8 */

struct bytes {
	const unsigned char *bytes;
	size_t size;
	uint64_t address;
};

/* Any of these may be broken, so what they read is copied, and checked. */
static bool get(const struct bytes *from, uint64_t at, size_t size, uint64_t *ret_number)
{
	if (at > from->size || size > from->size - at)
		return false;
	*ret_number = 0;
	memcpy(ret_number, from->bytes + at, size);
	return true;
}

static bool get_offset(const struct bytes *from, uint64_t at, int64_t *ret_offset)
{
	uint64_t number;

	if (!get(from, at, 4, &number))
		return false;
	*ret_offset = (int32_t)number;
	return true;
}

static bool open_bytes(const struct image *image, const char *name, struct bytes *ret_bytes)
{
	return image_bytes(image, name, &ret_bytes->bytes, &ret_bytes->size, &ret_bytes->address);
}

/* --- the index: pairs of where code begins, and where its entry is, sorted --- */

#define INDEX_AT 12
#define PAIR_SIZE 8

static bool is_index(const struct bytes *index, uint64_t *ret_count)
{
	static const unsigned char head[] = { 1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4,
					      DW_EH_PE_datarel | DW_EH_PE_sdata4 };

	return index->size >= INDEX_AT && !memcmp(index->bytes, head, sizeof(head)) &&
	       get(index, 8, 4, ret_count) && *ret_count <= (index->size - INDEX_AT) / PAIR_SIZE;
}

static uint64_t pair(const struct bytes *index, uint64_t i, bool second)
{
	int64_t offset = 0;

	get_offset(index, INDEX_AT + i * PAIR_SIZE + 4 * second, &offset);
	return index->address + (uint64_t)offset;
}

/* The last pair that begins at the address or before it. */
static bool find_pair(const struct bytes *index, uint64_t address, uint64_t *ret_begin,
		      uint64_t *ret_entry)
{
	uint64_t low = 0, high;

	if (!is_index(index, &high))
		return false;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (pair(index, middle, false) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	*ret_begin = pair(index, low - 1, false);
	*ret_entry = pair(index, low - 1, true);
	return true;
}

/* --- entries --- */

static size_t size_of(uint64_t encoding)
{
	switch (encoding & SIZE_MASK) {
	case DW_EH_PE_udata2:
		return 2;
	case DW_EH_PE_udata4:
		return 4;
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
		return 8;
	default:
		return 0;
	}
}

/* A number of as many bytes as it needs (LEB128): only its end counts. */
static bool skip_number(const struct bytes *frames, uint64_t *at)
{
	uint64_t byte = 0x80;

	while (byte & 0x80)
		if (!get(frames, (*at)++, 1, &byte))
			return false;
	return true;
}

/* Takes what one letter of the augmentation stands for. */
static bool take_letter(const struct bytes *frames, unsigned char letter, uint64_t *at,
			uint64_t *encoding)
{
	uint64_t byte;

	switch (letter) {
	case 'R':
		return get(frames, (*at)++, 1, encoding);
	case 'L':
		return get(frames, (*at)++, 1, &byte);
	case 'P':
		if (!get(frames, (*at)++, 1, &byte))
			return false;
		*at += size_of(byte);
		return size_of(byte) != 0;
	default:
		return letter == 'S' || letter == 'B';
	}
}

/* How many bytes an address has in the entries that refer to this common one; 0: that is not known. */
static size_t address_size(const struct bytes *frames, uint64_t common)
{
	uint64_t at = common + 9, version, letter = 0, encoding = DW_EH_PE_absptr;
	const unsigned char *letters;

	if (!get(frames, common + 8, 1, &version) || at >= frames->size ||
	    !memchr(frames->bytes + at, '\0', frames->size - at))
		return 0;
	letters = frames->bytes + at;
	at += strlen((const char *)letters) + 1;
	if (!skip_number(frames, &at) || !skip_number(frames, &at) ||
	    (version == 1 ? !get(frames, at++, 1, &letter) : !skip_number(frames, &at)))
		return 0;
	if (*letters == '\0')
		return size_of(encoding);
	if (*letters++ != 'z' || !skip_number(frames, &at))
		return 0;
	for (; *letters; letters++)
		if (!take_letter(frames, *letters, &at, &encoding))
			return 0;
	return size_of(encoding);
}

/* How many bytes of code the entry at this address is about. */
static bool length_of(const struct bytes *frames, uint64_t entry, uint64_t *ret_length)
{
	uint64_t at = entry - frames->address, common;
	size_t size;

	/* Length, offset back to the common entry, where the code begins, how long it is. */
	if (entry < frames->address || !get(frames, at + 4, 4, &common) || common > at + 4)
		return false;
	size = address_size(frames, at + 4 - common);
	return size && get(frames, at + 8 + size, size, ret_length);
}

bool unwind_range(const struct image *image, uint64_t address, struct range *ret_range)
{
	struct bytes index, frames;
	uint64_t begin, entry, length;

	if (!open_bytes(image, ".eh_frame_hdr", &index) ||
	    !open_bytes(image, ".eh_frame", &frames) ||
	    !find_pair(&index, address, &begin, &entry) || !length_of(&frames, entry, &length) ||
	    address - begin >= length || __builtin_add_overflow(begin, length, &length))
		return false;
	*ret_range = (struct range){ begin, length };
	return true;
}

bool unwind_is_entry(const struct image *image, uint64_t address)
{
	Dwarf_CFI *table = dwarf_getcfi_elf(image->elf);
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *operations;
	size_t count;
	bool is_entry = table && dwarf_cfi_addrframe(table, address, &frame) == 0 &&
			dwarf_frame_cfa(frame, &operations, &count) == 0 && count == 1 &&
			operations->atom == DW_OP_bregx && operations->number == STACK_POINTER &&
			operations->number2 == ENTRY_OFFSET;

	free(frame);
	if (table)
		dwarf_cfi_end(table);
	return is_entry;
}
