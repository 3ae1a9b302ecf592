/* SPDX-License-Identifier: MIT */
/*
 * arm64: every instruction has four bytes.
 */
#include "code.h"

#include <string.h>

#define RETURN 0xd65f03c0 /* to x30 */

static uint32_t word_at(const unsigned char *code)
{
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	return word;
}

size_t code_length(const unsigned char *code, size_t size)
{
	(void)code;
	return size < sizeof(uint32_t) ? 0 : sizeof(uint32_t);
}

bool code_is_return(const unsigned char *code, size_t length)
{
	return length == sizeof(uint32_t) && word_at(code) == RETURN;
}

bool code_is_stepped(const unsigned char *code, size_t size)
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
		if ((word_at(code) & simulated[i].mask) == simulated[i].value)
			return false;
	return true;
}
