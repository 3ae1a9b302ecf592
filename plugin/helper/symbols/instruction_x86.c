/* SPDX-License-Identifier: MIT */
/*
 * Instructions of x86-64. The opcode says whether a ModRM byte follows, and how large an immediate:
 * see Intel's Software Developer's Manual, volume 2, appendix A.
 */
#include "instruction.h"

#include <string.h>

struct decoder {
	const unsigned char *code;
	size_t size, at;
	unsigned char opcode, rex;
	unsigned map;   /* opcode map: 0: one byte, 1: behind 0F, 2: behind 0F 38, 3: behind 0F
			 * 3A */
	bool is_vector; /* VEX, EVEX or XOP */
	bool has_16, has_address_32, has_repeat;
};

static bool next_byte(struct decoder *decoder, unsigned char *ret_byte)
{
	if (decoder->at == decoder->size)
		return false;
	*ret_byte = decoder->code[decoder->at++];
	return true;
}

static bool is_among(unsigned char byte, const char *bytes, size_t count)
{
	return memchr(bytes, byte, count) != NULL;
}
#define IS_AMONG(byte, bytes) is_among(byte, bytes, sizeof(bytes) - 1)

static bool skip_prefixes(struct decoder *decoder, unsigned char *ret_byte)
{
	do {
		if (!next_byte(decoder, ret_byte))
			return false;
		decoder->has_16 |= *ret_byte == 0x66;
		decoder->has_address_32 |= *ret_byte == 0x67;
		decoder->has_repeat |= *ret_byte == 0xf2;
	} while (IS_AMONG(*ret_byte, "\x66\x67\xf2\xf3\x2e\x36\x3e\x26\x64\x65\xf0"));
	if ((*ret_byte & 0xf0) != 0x40)
		return true;
	decoder->rex = *ret_byte;
	return next_byte(decoder, ret_byte);
}

/* VEX, EVEX and XOP prefixes stand for legacy prefixes and the first bytes of an opcode. */
static bool decode_vector(struct decoder *decoder, unsigned char first)
{
	unsigned char byte[3] = { 0 };
	size_t count = first == 0xc5 ? 1 : first == 0x62 ? 3 : 2;

	for (size_t i = 0; i < count; i++)
		if (!next_byte(decoder, &byte[i]))
			return false;
	decoder->is_vector = true;
	decoder->map = first == 0xc5 ? 1 : byte[0] & (first == 0x62 ? 7 : 0x1f);
	return next_byte(decoder, &decoder->opcode) && decoder->map;
}

static bool is_xop(const struct decoder *decoder, unsigned char byte)
{
	return byte == 0x8f && decoder->at < decoder->size &&
	       (decoder->code[decoder->at] & 0x1f) >= 8;
}

static bool decode_opcode(struct decoder *decoder)
{
	unsigned char byte;

	if (!skip_prefixes(decoder, &byte))
		return false;
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62 || is_xop(decoder, byte))
		return decode_vector(decoder, byte);
	if (byte == 0x0f) {
		decoder->map = 1;
		if (!next_byte(decoder, &byte))
			return false;
		if (byte == 0x38 || byte == 0x3a) {
			decoder->map = byte == 0x38 ? 2 : 3;
			if (!next_byte(decoder, &byte))
				return false;
		}
	}
	decoder->opcode = byte;
	return true;
}

static bool is_valid(const struct decoder *decoder)
{
	unsigned char opcode = decoder->opcode;

	if (decoder->map == 0)
		return !IS_AMONG(opcode,
				 "\x06\x07\x0e\x16\x17\x1e\x1f\x27\x2f\x37\x3f\x60\x61\x82\x9a"
				 "\xce\xd4\xd5\xd6\xea");
	/* Immediates of APX and of map 7 do not follow these rules. */
	if (decoder->is_vector)
		return decoder->map <= 10 && decoder->map != 4 && decoder->map != 7;
	return decoder->map > 1 || !IS_AMONG(opcode, "\x04\x0a\x0c\x24\x25\x26\x27\x36");
}

static bool has_modrm(const struct decoder *decoder)
{
	unsigned char opcode = decoder->opcode;

	if (decoder->is_vector)
		return decoder->map != 1 || opcode != 0x77;
	if (decoder->map > 1)
		return true;
	if (decoder->map == 1)
		return !((opcode >= 0x30 && opcode <= 0x37) || (opcode >= 0x80 && opcode <= 0x8f) ||
			 opcode >> 3 == 0xc8 >> 3 ||
			 IS_AMONG(opcode,
				  "\x05\x06\x07\x08\x09\x0b\x0e\x77\xa0\xa1\xa2\xa8\xa9\xaa"));
	if (opcode < 0x40)
		return (opcode & 7) < 4;
	return (opcode >= 0x80 && opcode <= 0x8f) || (opcode >= 0xd0 && opcode <= 0xd3) ||
	       (opcode >= 0xd8 && opcode <= 0xdf) ||
	       IS_AMONG(opcode, "\x63\x69\x6b\xc0\xc1\xc6\xc7\xf6\xf7\xfe\xff");
}

static size_t immediate_of_word(const struct decoder *decoder)
{
	return decoder->has_16 && !(decoder->rex & 8) ? 2 : 4;
}

static size_t immediate_of_vector(const struct decoder *decoder)
{
	if (decoder->map == 10)
		return 4;
	if (decoder->map == 3 || decoder->map == 8)
		return 1;
	return decoder->map == 1 && IS_AMONG(decoder->opcode, "\x70\x71\x72\x73\xc2\xc4\xc5\xc6");
}

static size_t immediate_behind_0f(const struct decoder *decoder)
{
	if (decoder->opcode >> 4 == 8)
		return 4;
	if (decoder->opcode == 0x78 && (decoder->has_16 || decoder->has_repeat))
		return 2;
	return IS_AMONG(decoder->opcode, "\x0f\x70\x71\x72\x73\xa4\xac\xba\xc2\xc4\xc5\xc6");
}

static size_t immediate_of_one(const struct decoder *decoder, unsigned char modrm)
{
	unsigned char opcode = decoder->opcode;

	if (opcode < 0x40)
		return (opcode & 7) == 4 ? 1 : (opcode & 7) == 5 ? immediate_of_word(decoder) : 0;
	if (opcode >= 0xb8 && opcode <= 0xbf)
		return decoder->rex & 8 ? 8 : immediate_of_word(decoder);
	if (opcode >= 0xa0 && opcode <= 0xa3)
		return decoder->has_address_32 ? 4 : 8;
	if (opcode == 0xf6 || opcode == 0xf7)
		return modrm & 0x30 ? 0 : opcode == 0xf6 ? 1 : immediate_of_word(decoder);
	if (IS_AMONG(opcode, "\x68\x69\x81\xa9\xc7"))
		return immediate_of_word(decoder);
	if (opcode == 0xe8 || opcode == 0xe9)
		return 4;
	if (opcode == 0xc2 || opcode == 0xca)
		return 2;
	if (opcode == 0xc8)
		return 3;
	return opcode >> 4 == 7 || (opcode >= 0xb0 && opcode <= 0xb7) ||
	       (opcode >= 0xe0 && opcode <= 0xe7) ||
	       IS_AMONG(opcode, "\x6a\x6b\x80\x83\xa8\xc0\xc1\xc6\xcd\xeb");
}

static size_t immediate(const struct decoder *decoder, unsigned char modrm)
{
	if (decoder->is_vector)
		return immediate_of_vector(decoder);
	if (decoder->map == 0)
		return immediate_of_one(decoder, modrm);
	return decoder->map == 1 ? immediate_behind_0f(decoder) : decoder->map == 3;
}

/* Skips a SIB byte and a displacement. */
static bool skip_address(struct decoder *decoder, unsigned char modrm)
{
	unsigned char sib = 0;

	if (modrm >> 6 == 3)
		return true;
	if ((modrm & 7) == 4 && !next_byte(decoder, &sib))
		return false;
	if (modrm >> 6 == 1)
		decoder->at += 1;
	else if (modrm >> 6 == 2 || (modrm & 7) == 5 || ((modrm & 7) == 4 && (sib & 7) == 5))
		decoder->at += 4;
	return true;
}

static bool decode(struct decoder *decoder)
{
	unsigned char modrm = 0;

	if (!decode_opcode(decoder) || !is_valid(decoder))
		return false;
	if (has_modrm(decoder) && (!next_byte(decoder, &modrm) || !skip_address(decoder, modrm)))
		return false;
	decoder->at += immediate(decoder, modrm);
	return decoder->at <= decoder->size;
}

static struct decoder decoder_of(const unsigned char *code, size_t size)
{
	return (struct decoder){ .code = code,
				 .size = size < INSTRUCTION_SIZE_MAX ? size
								     : INSTRUCTION_SIZE_MAX };
}

size_t instruction_length(const unsigned char *code, size_t size)
{
	struct decoder decoder = decoder_of(code, size);

	return decode(&decoder) ? decoder.at : 0;
}

bool instruction_is_return(const unsigned char *code, size_t length)
{
	struct decoder decoder = decoder_of(code, length);

	return decode(&decoder) && decoder.map == 0 &&
	       (decoder.opcode == 0xc3 || decoder.opcode == 0xc2);
}

bool instruction_jumps(const unsigned char *code, size_t length, uint64_t address,
		       uint64_t *ret_destination, bool *ret_always)
{
	struct decoder decoder = decoder_of(code, length);
	unsigned char opcode;
	int32_t offset;
	bool is_short;

	if (!decode(&decoder) || decoder.is_vector || decoder.map > 1)
		return false;
	opcode = decoder.opcode;
	is_short = decoder.map == 0 &&
		   (opcode >> 4 == 7 || opcode == 0xeb || (opcode >= 0xe0 && opcode <= 0xe3));
	if (!is_short && !(decoder.map == 0 && opcode == 0xe9) &&
	    !(decoder.map == 1 && opcode >> 4 == 8))
		return false;
	if (is_short)
		offset = (signed char)code[length - 1];
	else
		memcpy(&offset, code + length - sizeof(offset), sizeof(offset));
	*ret_destination = address + length + (uint64_t)(int64_t)offset;
	*ret_always = opcode == 0xeb || opcode == 0xe9;
	return true;
}

bool instruction_is_single_step(const unsigned char *code, size_t size)
{
	struct decoder decoder = decoder_of(code, size);
	unsigned char opcode;

	if (!decode(&decoder) || decoder.is_vector || decoder.map > 1)
		return true;
	opcode = decoder.opcode;
	if (decoder.map == 0 && opcode == 0x90)
		return false;
	if (decoder.map == 0 && opcode >> 3 == 0x50 >> 3)
		return decoder.at != 1 && (decoder.at != 2 || decoder.rex != 0x41);
	if (decoder.has_16)
		return true;
	return decoder.map == 1
		       ? opcode >> 4 != 8
		       : opcode >> 4 != 7 && opcode != 0xe8 && opcode != 0xe9 && opcode != 0xeb;
}

/* An optional endbr64 and an optional bnd, then jmp *OFFSET(%rip). */
static bool is_plt_jump_x86(const unsigned char *code, size_t size, size_t at, uint64_t address,
			    uint64_t *ret_pointer)
{
	static const unsigned char endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa }, jump[] = { 0xff, 0x25 };
	size_t begin = at;
	int32_t offset;

	if (size - at > sizeof(endbr) && memcmp(code + at, endbr, sizeof(endbr)) == 0)
		at += sizeof(endbr);
	if (size - at > 1 && code[at] == 0xf2)
		at++;
	if (size - at < sizeof(jump) + sizeof(offset) || memcmp(code + at, jump, sizeof(jump)) != 0)
		return false;
	at += sizeof(jump);
	memcpy(&offset, code + at, sizeof(offset));
	at += sizeof(offset);
	*ret_pointer = address + (at - begin) + (uint64_t)(int64_t)offset;
	return true;
}

/* Entries have 8 or 16 bytes. */
bool instruction_jump_pointer(const unsigned char *code, size_t size, size_t at, uint64_t address,
			      uint64_t *ret_pointer)
{
	for (size_t entry = 8; entry <= 16; entry *= 2) {
		size_t begin = at - at % entry;

		if (is_plt_jump_x86(code, size, begin, address - at % entry, ret_pointer))
			return true;
	}
	return false;
}
