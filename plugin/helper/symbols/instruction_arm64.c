/* SPDX-License-Identifier: MIT */
/*
 * Instructions of arm64, of four bytes each.
 */
#include "instruction.h"

#include <string.h>

#define RETURN 0xd65f03c0 /* to x30 */
/* to x30, with its signature checked; bit 10: by the other key */
#define RETURN_CHECKED 0xd65f0bff

static uint32_t read_instruction(const unsigned char *code)
{
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	return word;
}

size_t instruction_length(const unsigned char *code, size_t size)
{
	(void)code;
	return size < sizeof(uint32_t) ? 0 : sizeof(uint32_t);
}

bool instruction_is_return(const unsigned char *code, size_t length)
{
	return length == sizeof(uint32_t) && (read_instruction(code) == RETURN ||
					      (read_instruction(code) & ~0x400U) == RETURN_CHECKED);
}

/* The low `bits` bits of value as a signed number of instructions, in bytes. */
static uint64_t jump_distance(uint32_t value, unsigned bits)
{
	uint64_t sign = 1ULL << (bits - 1), low = value & (2 * sign - 1);

	return ((low ^ sign) - sign) * sizeof(value);
}

bool instruction_jumps(const unsigned char *code, size_t length, uint64_t address,
		       uint64_t *ret_destination, bool *ret_always)
{
	uint32_t word;

	if (length != sizeof(word))
		return false;
	word = read_instruction(code);
	*ret_always = (word & 0xfc000000) == 0x14000000; /* b */
	if (*ret_always)
		*ret_destination = address + jump_distance(word, 26);
	else if ((word & 0xff000000) == 0x54000000 ||
		 (word & 0x7e000000) == 0x34000000) /* b.cond, cbz, cbnz */
		*ret_destination = address + jump_distance(word >> 5, 19);
	else if ((word & 0x7e000000) == 0x36000000) /* tbz, tbnz */
		*ret_destination = address + jump_distance(word >> 5, 14);
	else
		return false;
	return true;
}

bool instruction_is_single_step(const unsigned char *code, size_t size)
{
	static const struct {
		uint32_t mask, value;
	} simulated[] = {
		{ 0x7c000000, 0x14000000 }, /* b, bl */
		{ 0xff000010, 0x54000000 }, /* b.cond */
		{ 0x7e000000, 0x34000000 }, /* cbz, cbnz */
		{ 0x7e000000, 0x36000000 }, /* tbz, tbnz */
		{ 0x1f000000, 0x10000000 }, /* adr, adrp */
		{ 0xbf000000, 0x18000000 }, /* ldr of a literal */
		{ 0xff000000, 0x98000000 }, /* ldrsw of a literal */
		{ 0xff9ffc1f, 0xd61f0000 }, /* br, blr, ret */
	};

	if (size < sizeof(uint32_t))
		return true;
	for (size_t i = 0; i < sizeof(simulated) / sizeof(*simulated); i++)
		if ((read_instruction(code) & simulated[i].mask) == simulated[i].value)
			return false;
	return true;
}

#define BTI_C 0xd503245f
#define ENTRY_MAX 24 /* bytes: bti c, adrp, ldr, add, br, nop */

/* adrp x16, PAGE; ldr x17, [x16, OFFSET] */
static bool is_plt_jump_arm64(const unsigned char *code, size_t size, size_t at, uint64_t address,
			      uint64_t *ret_pointer)
{
	uint32_t page, load;
	int64_t pages;

	if (size - at < 2 * sizeof(uint32_t))
		return false;
	page = read_instruction(code + at);
	load = read_instruction(code + at + sizeof(page));
	if ((page & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211)
		return false;
	/* 21 bits, signed; the lowest two are stored apart. */
	pages = (int32_t)((page >> 5 & 0x7ffff) << 2 | (page >> 29 & 3));
	pages -= pages & 0x100000 ? 0x200000 : 0;
	*ret_pointer = (address & ~0xfffULL) + (uint64_t)(pages * 4096) + (load >> 10 & 0xfff) * 8;
	return true;
}

bool instruction_jump_pointer(const unsigned char *code, size_t size, size_t at, uint64_t address,
			      uint64_t *ret_pointer)
{
	size_t most;

	address -= at % sizeof(uint32_t);
	at -= at % sizeof(uint32_t);
	if (size - at >= sizeof(uint32_t) && read_instruction(code + at) == BTI_C) {
		at += sizeof(uint32_t);
		address += sizeof(uint32_t);
	}
	most = at < ENTRY_MAX ? at : ENTRY_MAX;
	for (size_t back = 0; back <= most; back += sizeof(uint32_t))
		if (is_plt_jump_arm64(code, size, at - back, address - back, ret_pointer))
			return true;
	return false;
}
