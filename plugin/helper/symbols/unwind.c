/* SPDX-License-Identifier: MIT */
/*
 * Entries of .eh_frame, which say how to unwind the stack (Linux Standard Base, "Exception
 * Frames"). An entry is found by the index that the linker makes. libdw evaluates it, but has no
 * call for the range of code that it describes.
 */
#include "unwind.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#define STACK_POINTER 7 /* number in DWARF */
#define ENTRY_OFFSET 8  /* the return address is on the stack */
#else
#define STACK_POINTER 31
#define ENTRY_OFFSET 0
#endif

#define SIZE_MASK 0x07 /* of an encoding: DW_EH_PE_udata2, _udata4, _udata8 */

struct section_bytes {
	const unsigned char *bytes;
	size_t size;
	uint64_t address;
};

/* The sections may be broken, so numbers are copied and checked. */
static bool read_number(const struct section_bytes *from, uint64_t at, size_t size,
			uint64_t *ret_number)
{
	if (at > from->size || size > from->size - at)
		return false;
	*ret_number = 0;
	memcpy(ret_number, from->bytes + at, size);
	return true;
}

static bool read_offset(const struct section_bytes *from, uint64_t at, int64_t *ret_offset)
{
	uint64_t number;

	if (!read_number(from, at, 4, &number))
		return false;
	*ret_offset = (int32_t)number;
	return true;
}

static bool open_section(const struct image *image, const char *name,
			 struct section_bytes *ret_bytes)
{
	return image_bytes(image, name, &ret_bytes->bytes, &ret_bytes->size, &ret_bytes->address);
}

/* --- the index: sorted pairs of the address of code and that of its entry --- */

#define INDEX_AT 12
#define PAIR_SIZE 8

static bool is_index(const struct section_bytes *index, uint64_t *ret_count)
{
	static const unsigned char head[] = { 1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4,
					      DW_EH_PE_datarel | DW_EH_PE_sdata4 };

	return index->size >= INDEX_AT && !memcmp(index->bytes, head, sizeof(head)) &&
	       read_number(index, 8, 4, ret_count) &&
	       *ret_count <= (index->size - INDEX_AT) / PAIR_SIZE;
}

static uint64_t pair(const struct section_bytes *index, uint64_t i, bool second)
{
	int64_t offset = 0;

	read_offset(index, INDEX_AT + i * PAIR_SIZE + 4 * second, &offset);
	return index->address + (uint64_t)offset;
}

/* The last pair whose code starts at or below the address. */
static bool find_pair(const struct section_bytes *index, uint64_t address, uint64_t *ret_begin,
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

/* Skips a number in LEB128. */
static bool skip_number(const struct section_bytes *frames, uint64_t *at)
{
	uint64_t byte = 0x80;

	while (byte & 0x80)
		if (!read_number(frames, (*at)++, 1, &byte))
			return false;
	return true;
}

/* Skips the data that one letter of the augmentation stands for; 'R' is the encoding. */
static bool skip_letter(const struct section_bytes *frames, unsigned char letter, uint64_t *at,
			uint64_t *encoding)
{
	uint64_t byte;

	switch (letter) {
	case 'R':
		return read_number(frames, (*at)++, 1, encoding);
	case 'L':
		return read_number(frames, (*at)++, 1, &byte);
	case 'P':
		if (!read_number(frames, (*at)++, 1, &byte))
			return false;
		*at += size_of(byte);
		return size_of(byte) != 0;
	default:
		return letter == 'S' || letter == 'B';
	}
}

/* The size of an address in entries that refer to this common entry; 0: unknown. */
static size_t address_size(const struct section_bytes *frames, uint64_t common)
{
	uint64_t at = common + 9, version, letter = 0, encoding = DW_EH_PE_absptr;
	const unsigned char *letters;

	if (!read_number(frames, common + 8, 1, &version) || at >= frames->size ||
	    !memchr(frames->bytes + at, '\0', frames->size - at))
		return 0;
	letters = frames->bytes + at;
	at += strlen((const char *)letters) + 1;
	if (!skip_number(frames, &at) || !skip_number(frames, &at) ||
	    (version == 1 ? !read_number(frames, at++, 1, &letter) : !skip_number(frames, &at)))
		return 0;
	if (*letters == '\0')
		return size_of(encoding);
	if (*letters++ != 'z' || !skip_number(frames, &at))
		return 0;
	for (; *letters; letters++)
		if (!skip_letter(frames, *letters, &at, &encoding))
			return 0;
	return size_of(encoding);
}

/* The number of bytes of code that the entry at this address describes. */
static bool code_length_of_entry(const struct section_bytes *frames, uint64_t entry,
				 uint64_t *ret_length)
{
	uint64_t at = entry - frames->address, common;
	size_t size;

	/* An entry is: length, offset back to the common entry, address of the code, its length. */
	if (entry < frames->address || !read_number(frames, at + 4, 4, &common) || common > at + 4)
		return false;
	size = address_size(frames, at + 4 - common);
	return size && read_number(frames, at + 8 + size, size, ret_length);
}

bool unwind_range(const struct image *image, uint64_t address, struct code_range *ret_range)
{
	struct section_bytes index, frames;
	uint64_t begin, entry, length;

	if (!open_section(image, ".eh_frame_hdr", &index) ||
	    !open_section(image, ".eh_frame", &frames) ||
	    !find_pair(&index, address, &begin, &entry) ||
	    !code_length_of_entry(&frames, entry, &length) || address - begin >= length ||
	    __builtin_add_overflow(begin, length, &length))
		return false;
	*ret_range = (struct code_range){ begin, length };
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
