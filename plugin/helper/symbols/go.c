/* SPDX-License-Identifier: MIT */
/*
 * Go's table of functions. Its layout, in Go's src/runtime/symtab.go (pcHeader, functab, _func) and
 * src/debug/gosym/pclntab.go, changed with 1.16, 1.18 and 1.20. Numbers are copied out of it, as
 * they need not be aligned, and checked, as the file may be hostile.
 */
#include "go.h"

#include <string.h>

#define FUNCTIONS_MAX (1U << 22)
#define TEXT_AT 24 /* offset of the address of the text, since 1.18 */

enum { MAGIC_2 = 0xfffffffb, MAGIC_16 = 0xfffffffa, MAGIC_18 = 0xfffffff0, MAGIC_20 = 0xfffffff1 };

struct go_table {
	const unsigned char *bytes;
	size_t size;
	uint64_t text;      /* added to addresses; 0: they are absolute */
	uint64_t names;     /* offset of the names */
	uint64_t functions; /* offset of the list of functions */
	uint64_t data; /* from here the entries of the list count the offset of a function's data */
	uint64_t count;
	size_t word; /* size of an entry's numbers, and of the address in a function's data */
};

static bool get_number(const struct go_table *table, uint64_t at, size_t size, uint64_t *ret_number)
{
	if (at > table->size || size > table->size - at)
		return false;
	*ret_number = 0;
	memcpy(ret_number, table->bytes + at, size);
	return true;
}

/* In a position-independent program the linker may leave the address of the text to a
 * relocation. */
static uint64_t find_relocation(const struct image *image, uint64_t address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Rela entry;

	while ((section = elf_nextscn(image->elf, section)) != NULL) {
		Elf_Data *data = gelf_getshdr(section, &header) && header.sh_type == SHT_RELA
					 ? elf_getdata(section, NULL)
					 : NULL;

		for (int i = 0; data && gelf_getrela(data, i, &entry); i++)
			if (entry.r_offset == address)
				return (uint64_t)entry.r_addend;
	}
	return 0;
}

static bool set_table_offsets(struct go_table *table, uint64_t at, bool has_text)
{
	uint64_t text = 0, number[7];

	/* Numbers of functions and files, the address of the text, then the offsets of six tables:
	 * the first is that of names, the last that of functions. */
	for (size_t i = 0; i < (has_text ? 8 : 7); i++)
		if (!get_number(table, at + i * 8, 8,
				has_text && i == 2 ? &text : &number[i - (has_text && i > 2)]))
			return false;
	table->count = number[0];
	table->names = number[2];
	table->functions = table->data = number[6];
	table->word = has_text ? 4 : 8;
	table->text = text;
	return true;
}

static bool open_go_table(const struct image *image, struct go_table *table)
{
	uint64_t magic, word, address;

	*table = (struct go_table){ .bytes = NULL };
	if (!image_bytes(image, ".gopclntab", &table->bytes, &table->size, &address) &&
	    !image_bytes(image, ".data.rel.ro.gopclntab", &table->bytes, &table->size, &address))
		return false;
	if (!get_number(table, 0, 4, &magic) || !get_number(table, 7, 1, &word) || word != 8)
		return false;
	if (magic == MAGIC_2) {
		table->functions = 16;
		table->word = 8;
		return get_number(table, 8, 8, &table->count);
	}
	if (magic == MAGIC_16)
		return set_table_offsets(table, 8, false);
	if ((magic != MAGIC_18 && magic != MAGIC_20) || !set_table_offsets(table, 8, true))
		return false;
	table->text = table->text ? table->text : find_relocation(image, address + TEXT_AT);
	return table->text != 0;
}

static bool get_go_entry(const struct go_table *table, uint64_t index, uint64_t *ret_address,
			 uint64_t *ret_data)
{
	uint64_t at = table->functions + index * 2 * table->word;

	if (!get_number(table, at, table->word, ret_address))
		return false;
	*ret_address += table->text;
	/* The entry behind the last function has only the end of its code. */
	return !ret_data || get_number(table, at + table->word, table->word, ret_data);
}

static const char *go_name(const struct go_table *table, uint64_t data)
{
	uint64_t name;

	if (__builtin_add_overflow(data, table->data + table->word, &data) ||
	    !get_number(table, data, 4, &name) ||
	    __builtin_add_overflow(name, table->names, &name) || name >= table->size ||
	    !memchr(table->bytes + name, '\0', table->size - name))
		return NULL;
	return (const char *)table->bytes + name;
}

bool go_each(const struct image *image, void (*visit)(void *with, const struct name *name),
	     void *with)
{
	struct go_table table;

	if (!open_go_table(image, &table))
		return false;
	for (uint64_t i = 0; i < table.count && i < FUNCTIONS_MAX; i++) {
		struct name name = { .rank = 4 };
		uint64_t data, end;

		if (!get_go_entry(&table, i, &name.address, &data) ||
		    !get_go_entry(&table, i + 1, &end, NULL))
			break;
		name.text = go_name(&table, data);
		if (!name.text || !name.text[0])
			continue;
		name.length = strlen(name.text);
		name.size = end > name.address ? end - name.address : 0;
		visit(with, &name);
	}
	return true;
}

struct go_search {
	uint64_t address;
	struct code_range range;
};

static void match_go_range(void *with, const struct name *name)
{
	struct go_search *search = with;

	if (search->address >= name->address && search->address - name->address < name->size)
		search->range = (struct code_range){ name->address, name->address + name->size };
}

bool go_has(const struct image *image, uint64_t address, struct code_range *ret_range)
{
	struct go_search search = { .address = address };

	if (!image->is_go)
		return false;
	/* If the format is unknown, any code may be Go's. */
	if (!go_each(image, match_go_range, &search)) {
		*ret_range = search.range;
		return true;
	}
	if (search.range.end)
		*ret_range = search.range;
	return search.range.end != 0;
}
