/* SPDX-License-Identifier: MIT */
/*
 * Finds where a function returns. Compilers move seldom run parts of a function elsewhere, so code
 * that it jumps to is part of it, unless another function starts there, which then returns for it
 * (a tail call).
 *
 * A breakpoint inside an instruction, or in data, would break the program. So all of the function
 * must be decoded, and each jump must lead to the start of an instruction.
 */
#include "returns.h"

#include "found.h"
#include "go.h"
#include "instruction.h"
#include "plt.h"
#include "symbol_table.h"
#include "unwind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE_MAX (4UL << 20) /* bytes of one part */
#define PARTS_MAX 32
#define JUMPS_MAX (1U << 18)
#define OTHERS_MAX 256
#define COLD ".cold" /* in the name of a part that was moved, if it has a name */

struct code_jump {
	uint64_t destination;
	bool always;
};

struct code_part {
	struct code_range range;
	uint64_t offset;       /* of begin in the file */
	unsigned char *begins; /* per byte: does an instruction start there? */
};

struct return_search {
	const struct image *image;
	struct code_part parts[PARTS_MAX];
	size_t part_count;
	struct code_jump *jumps;
	size_t jump_count;
	struct symbol_location *locations;
	size_t location_count;
	uint64_t others[OTHERS_MAX]; /* other functions that it jumps to */
	size_t other_count;
	const char *why; /* why not all are found; NULL: all are */
};

static bool give_up(struct return_search *search, const char *why)
{
	search->why = why;
	return false;
}

/* --- parts of a function --- */

struct named_range {
	uint64_t address;
	struct code_range range; /* of the function with the address; end 0: none */
	bool is_cold;
};

static void match_named_range(void *with, const struct name *name)
{
	struct named_range *named = with;

	if (name->rank == 0 || named->address < name->address ||
	    named->address - name->address >= name->size)
		return;
	named->range = (struct code_range){ name->address, name->address + name->size };
	named->is_cold |= strstr(name->text, COLD) != NULL;
}

static struct named_range find_named_range(const struct image *image, uint64_t address)
{
	struct named_range named = { .address = address };

	for (enum symbol_table which = 0; which < SYMBOL_TABLES; which++)
		symbol_table_each(image, which, match_named_range, &named);
	return named;
}

/* The range of the function, or of the part of it, that has the address. */
static bool find_range(const struct image *image, uint64_t address, struct code_range *ret_range)
{
	if (go_has(image, address, ret_range))
		return ret_range->end != 0;
	if (unwind_range(image, address, ret_range))
		return true;
	*ret_range = find_named_range(image, address).range;
	return ret_range->end != 0;
}

/* Does the jump lead to another function, which returns for this one? Compilers make tail calls by
 * unconditional jumps, and by branches only to functions that have a name. */
static bool is_function(const struct image *image, const struct code_jump *jump,
			const struct code_range *range)
{
	struct code_range of_go, unwound;
	struct named_range named;

	if (plt_has(image, jump->destination))
		return true;
	if (jump->destination != range->begin)
		return false;
	if (go_has(image, jump->destination, &of_go))
		return true;
	if (unwind_range(image, jump->destination, &unwound)) {
		if (!unwind_is_entry(image, jump->destination))
			return false;
		if (jump->always)
			return true;
	}
	named = find_named_range(image, jump->destination);
	return named.range.end && named.range.begin == jump->destination && !named.is_cold;
}

static bool is_other(const struct return_search *search, uint64_t address)
{
	for (size_t i = 0; i < search->other_count; i++)
		if (search->others[i] == address)
			return true;
	return false;
}

static const struct code_part *part_at(const struct return_search *search, uint64_t address)
{
	for (size_t i = 0; i < search->part_count; i++)
		if (address >= search->parts[i].range.begin && address < search->parts[i].range.end)
			return &search->parts[i];
	return NULL;
}

/* --- code --- */

static bool add_jump(struct return_search *search, const struct code_jump *jump)
{
	struct code_jump *grown = search->jumps;

	/* The array grows at each power of two. */
	if ((search->jump_count & (search->jump_count - 1)) == 0)
		grown = reallocarray(grown, 2 * search->jump_count + 1, sizeof(*grown));
	if (!grown || search->jump_count == JUMPS_MAX)
		return give_up(search, "it is too large");
	search->jumps = grown;
	grown[search->jump_count++] = *jump;
	return true;
}

static bool add_return(struct return_search *search, uint64_t offset, uint32_t flags)
{
	if (search->location_count == SYMBOL_LOCATIONS_MAX - 1)
		return give_up(search, "it returns at too many locations");
	search->locations[search->location_count++] =
		(struct symbol_location){ .offset = offset, .flags = SYMBOL_RETURN | flags };
	return true;
}

static bool add_instruction(struct return_search *search, const struct code_part *part,
			    const unsigned char *code, size_t at, size_t length)
{
	struct code_jump jump;

	part->begins[at] = true;
	if (instruction_is_return(code + at, length))
		return add_return(search, part->offset + at,
				  instruction_is_single_step(code + at, length) ? SYMBOL_SINGLE_STEP
										: 0);
	if (instruction_jumps(code + at, length, part->range.begin + at, &jump.destination,
			      &jump.always))
		return add_jump(search, &jump);
	return true;
}

static bool decode_part(struct return_search *search, const struct code_part *part,
			const unsigned char *code, size_t size)
{
	for (size_t at = 0, length; at < size; at += length) {
		length = instruction_length(code + at, size - at);
		if (length == 0)
			return give_up(search, "it has code that cannot be decoded, or data in it");
		if (!add_instruction(search, part, code, at, length))
			return false;
	}
	return true;
}

static bool add_code_part(struct return_search *search, const struct code_range *range)
{
	struct code_part *part = &search->parts[search->part_count];
	size_t size = range->end - range->begin;
	unsigned char *code;
	bool decoded = false;

	if (search->part_count == PARTS_MAX || range->end <= range->begin || size > CODE_MAX)
		return give_up(search, "it is too large");
	*part = (struct code_part){ .range = *range, .begins = calloc(1, size) };
	search->part_count++;
	code = malloc(size);
	if (!code || !part->begins ||
	    image_offset(search->image, PF_X, range->begin, &part->offset) ||
	    image_read(search->image, part->offset, code, size) != size)
		give_up(search, "its code cannot be read");
	else
		decoded = decode_part(search, part, code, size);
	free(code);
	return decoded;
}

/* Adds the part that a jump leads to, unless that is another function. */
static bool follow_jump(struct return_search *search, const struct code_jump *jump)
{
	struct code_range range;

	if (part_at(search, jump->destination) || is_other(search, jump->destination))
		return true;
	if (!find_range(search->image, jump->destination, &range)) {
		/* A branch leads to a part; an unconditional jump more likely to another
		 * function. */
		if (!jump->always)
			return give_up(search, "a part of it lies elsewhere, and nothing in the "
					       "file says how large that is");
	} else if (!is_function(search->image, jump, &range)) {
		return add_code_part(search, &range);
	}
	if (search->other_count < OTHERS_MAX)
		search->others[search->other_count++] = jump->destination;
	return true;
}

static bool begins(const struct return_search *search, uint64_t address)
{
	const struct code_part *part = part_at(search, address);

	return !part || part->begins[address - part->range.begin];
}

static bool is_sound(struct return_search *search)
{
	for (size_t i = 0; i < search->jump_count; i++)
		if (!begins(search, search->jumps[i].destination))
			return give_up(search, "it jumps into the middle of an instruction, or has "
					       "data in it");
	return true;
}

static bool find_returns(struct return_search *search, uint64_t address)
{
	struct code_range range;

	if (!find_range(search->image, address, &range))
		return give_up(search, "nothing in the file says how large it is");
	if (!add_code_part(search, &range))
		return false;
	if (!begins(search, address))
		return give_up(search, "no instruction starts there");
	/* Each part may add jumps. */
	for (size_t i = 0; i < search->jump_count; i++)
		if (!follow_jump(search, &search->jumps[i]))
			return false;
	if (search->location_count == 0)
		return give_up(search,
			       "it has no instruction that returns: it ends in a tail call, "
			       "or never");
	return is_sound(search);
}

void returns_add(const struct image *image, uint64_t address, struct symbol_found *found)
{
	struct return_search search = {
		.image = image, .locations = calloc(SYMBOL_LOCATIONS_MAX, sizeof(*search.locations))
	};

	if (!search.locations)
		give_up(&search, "no memory");
	else if (find_returns(&search, address))
		for (size_t i = 0; i < search.location_count; i++)
			found_add(found, search.locations[i]);
	if (search.why) {
		found->locations[0].flags |= SYMBOL_NO_RETURNS;
		snprintf(found->error.text, sizeof(found->error.text), "%s", search.why);
	}
	for (size_t i = 0; i < search.part_count; i++)
		free(search.parts[i].begins);
	free(search.jumps);
	free(search.locations);
}
