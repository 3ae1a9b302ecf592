/* SPDX-License-Identifier: MIT */
/*
 * Names code at offsets of a program or library: all offsets in one pass over each symbol table.
 */
#include "offset.h"

#include "address.h"
#include "go.h"
#include "inlined.h"
#include "plt.h"
#include "symbol_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The best names so far for one address. */
struct covered {
	struct name best;  /* the function that covers the address; text NULL: none */
	struct name below; /* the last function that starts at or below this address and above
			    * the address before it */
};

struct offset_search {
	const struct code_address *addresses;
	struct covered *covered; /* of each address */
	size_t count;
	bool is_whole; /* the table has all functions, including those without a size */
};

static size_t underscores(const struct name *name)
{
	return strspn(name->text, "_");
}

/* Of several names at one address, the one that people know: read, not __read or __libc_read. */
static bool is_better_name(const struct name *name, const struct name *than)
{
	if (!than->text || name->address != than->address)
		return !than->text || name->address > than->address;
	if (underscores(name) != underscores(than))
		return underscores(name) < underscores(than);
	if (name->rank != than->rank)
		return name->rank > than->rank;
	if (name->length != than->length)
		return name->length < than->length;
	return memcmp(name->text, than->text, name->length) < 0;
}

static void cover_addresses(void *with, const struct name *name)
{
	struct offset_search *search = with;
	size_t first = addresses_from(search->addresses, search->count, name->address);

	if (name->rank == 0)
		return;
	for (size_t i = first;
	     i < search->count && search->addresses[i].value - name->address < name->size; i++)
		if (is_better_name(name, &search->covered[i].best))
			search->covered[i].best = *name;
	if (search->is_whole && first < search->count &&
	    is_better_name(name, &search->covered[first].below))
		search->covered[first].below = *name;
}

/* Code between two symbols may be in another section, which has no symbols. */
static bool is_same_section(const struct image *image, uint64_t address, uint64_t other)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(image->elf, section)) != NULL)
		if (gelf_getshdr(section, &header) && header.sh_flags & SHF_EXECINSTR &&
		    address - header.sh_addr < header.sh_size)
			return other - header.sh_addr < header.sh_size;
	return false;
}

/* A function without a size extends to the next one. */
static void add_sizeless(const struct image *image, const struct offset_search *search)
{
	struct name below = { 0 };

	for (size_t i = 0; i < search->count; i++) {
		struct covered *covered = &search->covered[i];

		if (covered->below.text)
			below = covered->below;
		if (below.text && !covered->best.text && below.size == 0 &&
		    is_same_section(image, search->addresses[i].value, below.address))
			covered->best = below;
	}
}

static void search_offset_tables(const struct image *image, struct offset_search *search)
{
	for (enum symbol_table which = 0; which < SYMBOL_TABLES; which++) {
		search->is_whole = which != SYMBOL_TABLE_DYNAMIC;
		symbol_table_each(image, which, cover_addresses, search);
	}
	if (image->is_go)
		go_each(image, cover_addresses, search);
	add_sizeless(image, search);
}

/* Fills in the addresses of those offsets that are code, sorted. Returns how many. */
static size_t find_addresses(const struct image *image, const uint64_t *offsets, size_t count,
			     struct code_address *addresses)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		if (image_address(image, offsets[i], &addresses[found].value) == 0)
			addresses[found++].index = i;
	addresses_sort(addresses, found);
	return found;
}

int offsets_name(const struct image *image, const uint64_t *offsets, size_t count,
		 bool wants_inlined, struct naming *ret_namings)
{
	struct code_address *addresses = calloc(count + 1, sizeof(*addresses));
	struct covered *covered = calloc(count + 1, sizeof(*covered));
	struct offset_search search = { .addresses = addresses, .covered = covered };
	int status = addresses && covered ? 0 : -ENOMEM;

	if (status)
		goto out;
	memset(ret_namings, 0, count * sizeof(*ret_namings));
	search.count = find_addresses(image, offsets, count, addresses);
	search_offset_tables(image, &search);
	for (size_t i = 0; i < search.count; i++)
		if (covered[i].best.text)
			naming_add(&ret_namings[addresses[i].index], covered[i].best.text,
				   covered[i].best.length, "");
	status = plt_name(image, addresses, search.count, ret_namings);
	if (status)
		naming_done(ret_namings, count);
	else if (wants_inlined)
		inlined_name(image, addresses, search.count, ret_namings);
out:
	free(covered);
	free(addresses);
	return status;
}

bool offsets_want_debug(const struct image *image)
{
	return !image->debug && (!symbol_table_has(image, SYMBOL_TABLE_STATIC) ||
				 (inlined_is_there && !inlined_has(image)));
}
