/* SPDX-License-Identifier: MIT */
/*
 * Finds inlined functions with libdw: walks those units and functions that have any of the
 * addresses, once for all addresses. Broken data may have cycles, so CPU time, depth and the number
 * of entries are bounded.
 */
#include "inlined.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CPU_S 2 /* of the SYMBOL_CPU_S of the process */
#define ENTRIES_MAX (1U << 25)
#define DEPTH_MAX 200
#define CHECK_EVERY 4096      /* entries */
#define RANGES_MAX (1U << 20) /* of one entry */

const bool inlined_is_there = true;

struct inline_search {
	const struct code_address *addresses;
	size_t count;
	Dwarf_Off *owner; /* of each address: the function that it is in; 0: none is known yet */
	struct naming *namings;
	unsigned entries;
	clock_t end;
	bool is_exhausted;
};

/* Called with an address that an entry has. */
typedef void visit_address(struct inline_search *search, size_t index, Dwarf_Die *entry,
			   Dwarf_Off function);

/* Calls `visit` (may be NULL) with each address that the entry has. Returns whether there is
 * any. */
static bool each_address(struct inline_search *search, Dwarf_Die *entry, Dwarf_Off function,
			 visit_address *visit)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t next = 0;
	bool any = false;

	for (unsigned i = 0; i < RANGES_MAX; i++) {
		next = dwarf_ranges(entry, next, &base, &begin, &end);
		if (next <= 0)
			break;
		for (size_t at = addresses_from(search->addresses, search->count, begin);
		     at < search->count && search->addresses[at].value < end; at++) {
			any = true;
			if (!visit)
				return true;
			visit(search, at, entry, function);
		}
	}
	return any;
}

/* The name, mangled if it is of C++ or Rust; NULL: none. */
static const char *entry_name(Dwarf_Die *entry)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(entry, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(entry, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name ? name : dwarf_diename(entry);
}

static void append_entry_name(struct inline_search *search, size_t index, Dwarf_Die *entry)
{
	struct naming *naming = &search->namings[search->addresses[index].index];
	const char *name = entry_name(entry);

	if (name)
		naming_add(naming, name, strlen(name), "");
}

/* A function that no symbol table has is named by its entry. */
static void set_owner_function(struct inline_search *search, size_t index, Dwarf_Die *entry,
			       Dwarf_Off function)
{
	if (search->owner[index])
		return;
	search->owner[index] = function;
	if (!search->namings[search->addresses[index].index].size)
		append_entry_name(search, index, entry);
}

static void append_inlined(struct inline_search *search, size_t index, Dwarf_Die *entry,
			   Dwarf_Off function)
{
	if (search->owner[index] == function)
		append_entry_name(search, index, entry);
}

static bool is_exhausted(struct inline_search *search)
{
	if (search->entries++ % CHECK_EVERY == 0 && clock() > search->end)
		search->is_exhausted = true;
	return search->is_exhausted |= search->entries > ENTRIES_MAX;
}

static void walk_entries(struct inline_search *search, Dwarf_Die *above, Dwarf_Off function,
			 unsigned depth);

static void walk_entry(struct inline_search *search, Dwarf_Die *entry, Dwarf_Off function,
		       unsigned depth)
{
	Dwarf_Off offset = dwarf_dieoffset(entry);

	switch (dwarf_tag(entry)) {
	case DW_TAG_subprogram:
		if (each_address(search, entry, offset, set_owner_function))
			walk_entries(search, entry, offset, depth);
		break;
	case DW_TAG_inlined_subroutine:
		if (function && each_address(search, entry, function, append_inlined))
			walk_entries(search, entry, function, depth);
		break;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		if (function && each_address(search, entry, function, NULL))
			walk_entries(search, entry, function, depth);
		break;
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		if (!function)
			walk_entries(search, entry, 0, depth);
		break;
	default:
		break;
	}
}

/* Walks all entries below an entry in this function; 0: in none. */
static void walk_entries(struct inline_search *search, Dwarf_Die *above, Dwarf_Off function,
			 unsigned depth)
{
	Dwarf_Die entry;

	if (depth >= DEPTH_MAX || dwarf_child(above, &entry) != 0)
		return;
	do {
		if (is_exhausted(search))
			return;
		walk_entry(search, &entry, function, depth + 1);
	} while (dwarf_siblingof(&entry, &entry) == 0);
}

/* The file that has DWARF; NULL: none. */
static Elf *file_with_dwarf(const struct image *image)
{
	Elf *const files[] = { image->debug, image->elf };
	GElf_Shdr header;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (files[i] && image_section(files[i], ".debug_info", &header) &&
		    header.sh_type != SHT_NOBITS)
			return files[i];
	return NULL;
}

bool inlined_has(const struct image *image)
{
	return file_with_dwarf(image) != NULL;
}

void inlined_name(const struct image *image, const struct code_address *addresses, size_t count,
		  struct naming *namings)
{
	struct inline_search search = { .addresses = addresses,
					.count = count,
					.owner = calloc(count + 1, sizeof(*search.owner)),
					.namings = namings,
					.end = clock() + (clock_t)CPU_S * CLOCKS_PER_SEC };
	Elf *file = search.owner && count ? file_with_dwarf(image) : NULL;
	Dwarf *data = file ? dwarf_begin_elf(file, DWARF_C_READ, NULL) : NULL;
	Dwarf_CU *unit = NULL;
	Dwarf_Die entry;
	uint8_t type;

	while (data && !is_exhausted(&search) &&
	       dwarf_get_units(data, unit, &unit, NULL, &type, &entry, NULL) == 0)
		if (type == DW_UT_compile && each_address(&search, &entry, 0, NULL))
			walk_entries(&search, &entry, 0, 0);
	dwarf_end(data);
	free(search.owner);
}
