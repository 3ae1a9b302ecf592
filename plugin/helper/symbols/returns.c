/* SPDX-License-Identifier: MIT */
/*
 * Where a function returns. Compilers put parts of it elsewhere that are seldom run, so what it jumps to
 * belongs to it, too, unless another function begins there: that one returns for it (a tail call).
 *
 * A breakpoint in the middle of an instruction, or in data, would break the program. So all of the
 * function must be decoded, and wherever it jumps an instruction must begin.
 */
#include "returns.h"

#include "code.h"
#include "found.h"
#include "go.h"
#include "names.h"
#include "plt.h"
#include "unwind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE_MAX (4UL << 20) /* bytes of one part */
#define PARTS_MAX 32
#define JUMPS_MAX (1U << 18)
#define OTHERS_MAX 256
#define COLD ".cold" /* in the name of a part, where one has a name */

struct jump {
	uint64_t target;
	bool always;
};

struct part {
	struct range range;
	uint64_t offset;       /* in the file */
	unsigned char *begins; /* of each byte: does an instruction begin there? */
};

struct search {
	const struct image *image;
	struct part parts[PARTS_MAX];
	size_t part_count;
	struct jump *jumps;
	size_t jump_count;
	struct symbol_place *places;
	size_t place_count;
	uint64_t others[OTHERS_MAX]; /* functions that it jumps to */
	size_t other_count;
	const char *why; /* not all are found; NULL: all are */
};

static bool refuse(struct search *search, const char *why)
{
	search->why = why;
	return false;
}

/* --- what belongs together --- */

struct named {
	uint64_t address;
	struct range range; /* of the function that has the address; end 0: none has */
	bool is_cold;
};

static void look(void *with, const struct name *name)
{
	struct named *named = with;

	if (name->rank == 0 || named->address < name->address ||
	    named->address - name->address >= name->size)
		return;
	named->range = (struct range){ name->address, name->address + name->size };
	named->is_cold |= strstr(name->text, COLD) != NULL;
}

static struct named name_of(const struct image *image, uint64_t address)
{
	struct named named = { .address = address };

	for (enum names_table which = 0; which < NAMES_TABLES; which++)
		names_each(image, which, look, &named);
	return named;
}

/* Of the function, or of a part of it. */
static bool find_range(const struct image *image, uint64_t address, struct range *ret_range)
{
	if (go_has(image, address, ret_range))
		return ret_range->end != 0;
	if (unwind_range(image, address, ret_range))
		return true;
	*ret_range = name_of(image, address).range;
	return ret_range->end != 0;
}

/* Is what it jumps to another function, which returns for it? Compilers make tail calls by jumps, and by
 * branches only to what has a name. */
static bool is_function(const struct image *image, const struct jump *jump,
			const struct range *range)
{
	struct range of_go, unwound;
	struct named named;

	if (plt_has(image, jump->target))
		return true;
	if (jump->target != range->begin)
		return false;
	if (go_has(image, jump->target, &of_go))
		return true;
	if (unwind_range(image, jump->target, &unwound)) {
		if (!unwind_is_entry(image, jump->target))
			return false;
		if (jump->always)
			return true;
	}
	named = name_of(image, jump->target);
	return named.range.end && named.range.begin == jump->target && !named.is_cold;
}

static bool is_other(const struct search *search, uint64_t address)
{
	for (size_t i = 0; i < search->other_count; i++)
		if (search->others[i] == address)
			return true;
	return false;
}

static const struct part *part_at(const struct search *search, uint64_t address)
{
	for (size_t i = 0; i < search->part_count; i++)
		if (address >= search->parts[i].range.begin && address < search->parts[i].range.end)
			return &search->parts[i];
	return NULL;
}

/* --- code --- */

static bool add_jump(struct search *search, const struct jump *jump)
{
	struct jump *grown = search->jumps;

	/* Each power of two. */
	if ((search->jump_count & (search->jump_count - 1)) == 0)
		grown = reallocarray(grown, 2 * search->jump_count + 1, sizeof(*grown));
	if (!grown || search->jump_count == JUMPS_MAX)
		return refuse(search, "it is too large");
	search->jumps = grown;
	grown[search->jump_count++] = *jump;
	return true;
}

static bool add_return(struct search *search, uint64_t offset, uint32_t flags)
{
	if (search->place_count == SYMBOL_PLACES_MAX - 1)
		return refuse(search, "it returns in too many places");
	search->places[search->place_count++] =
		(struct symbol_place){ .offset = offset, .flags = SYMBOL_RETURN | flags };
	return true;
}

static bool take_instruction(struct search *search, const struct part *part,
			     const unsigned char *code, size_t at, size_t length)
{
	struct jump jump;

	part->begins[at] = true;
	if (code_is_return(code + at, length))
		return add_return(search, part->offset + at,
				  code_is_stepped(code + at, length) ? SYMBOL_STEPPED : 0);
	if (code_jumps(code + at, length, part->range.begin + at, &jump.target, &jump.always))
		return add_jump(search, &jump);
	return true;
}

static bool take_code(struct search *search, const struct part *part, const unsigned char *code,
		      size_t size)
{
	for (size_t at = 0, length; at < size; at += length) {
		length = code_length(code + at, size - at);
		if (length == 0)
			return refuse(search, "it has code that cannot be decoded, or data in it");
		if (!take_instruction(search, part, code, at, length))
			return false;
	}
	return true;
}

static bool take_part(struct search *search, const struct range *range)
{
	struct part *part = &search->parts[search->part_count];
	size_t size = range->end - range->begin;
	unsigned char *code;
	bool taken = false;

	if (search->part_count == PARTS_MAX || range->end <= range->begin || size > CODE_MAX)
		return refuse(search, "it is too large");
	*part = (struct part){ .range = *range, .begins = calloc(1, size) };
	search->part_count++;
	code = malloc(size);
	if (!code || !part->begins ||
	    image_offset(search->image, PF_X, range->begin, &part->offset) ||
	    image_read(search->image, part->offset, code, size) != size)
		refuse(search, "its code cannot be read");
	else
		taken = take_code(search, part, code, size);
	free(code);
	return taken;
}

/* Takes where it jumps to, unless that is a function. */
static bool follow(struct search *search, const struct jump *jump)
{
	struct range range;

	if (part_at(search, jump->target) || is_other(search, jump->target))
		return true;
	if (!find_range(search->image, jump->target, &range)) {
		/* Of a branch it is a part, else more likely a function. */
		if (!jump->always)
			return refuse(search, "a part of it lies elsewhere, and nothing in the "
					      "file says how large that is");
	} else if (!is_function(search->image, jump, &range)) {
		return take_part(search, &range);
	}
	if (search->other_count < OTHERS_MAX)
		search->others[search->other_count++] = jump->target;
	return true;
}

static bool begins(const struct search *search, uint64_t address)
{
	const struct part *part = part_at(search, address);

	return !part || part->begins[address - part->range.begin];
}

static bool is_sound(struct search *search)
{
	for (size_t i = 0; i < search->jump_count; i++)
		if (!begins(search, search->jumps[i].target))
			return refuse(search, "it jumps into the middle of an instruction, or has "
					      "data in it");
	return true;
}

static bool find_all(struct search *search, uint64_t address)
{
	struct range range;

	if (!find_range(search->image, address, &range))
		return refuse(search, "nothing in the file says how large it is");
	if (!take_part(search, &range))
		return false;
	if (!begins(search, address))
		return refuse(search, "no instruction begins there");
	/* There may be more with each. */
	for (size_t i = 0; i < search->jump_count; i++)
		if (!follow(search, &search->jumps[i]))
			return false;
	if (search->place_count == 0)
		return refuse(search, "it has no instruction that returns: it ends in a tail call, "
				      "or never");
	return is_sound(search);
}

void returns_add(const struct image *image, uint64_t address, struct symbol_found *found)
{
	struct search search = { .image = image,
				 .places = calloc(SYMBOL_PLACES_MAX, sizeof(*search.places)) };

	if (!search.places)
		refuse(&search, "no memory");
	else if (find_all(&search, address))
		for (size_t i = 0; i < search.place_count; i++)
			found_add(found, search.places[i]);
	if (search.why) {
		found->places[0].flags |= SYMBOL_NO_RETURNS;
		snprintf(found->error.text, sizeof(found->error.text), "%s", search.why);
	}
	for (size_t i = 0; i < search.part_count; i++)
		free(search.parts[i].begins);
	free(search.jumps);
	free(search.places);
}
