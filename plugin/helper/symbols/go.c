/* SPDX-License-Identifier: MIT */
/*
 * Go's table of functions. Its layout, in Go's src/runtime/symtab.go (pcHeader, functab, _func) and
 * src/debug/gosym/pclntab.go, has changed with 1.16, 1.18 and 1.20. What is read of it is copied:
 * it may lie anywhere, and is another's.
 */
#include "go.h"

#include <string.h>

#define FUNCTIONS_MAX (1U << 22)
#define TEXT_AT 24 /* in the table since 1.18: where the text begins */

enum { MAGIC_2 = 0xfffffffb, MAGIC_16 = 0xfffffffa, MAGIC_18 = 0xfffffff0, MAGIC_20 = 0xfffffff1 };

struct table {
	const unsigned char *bytes;
	size_t size;
	uint64_t text;      /* which addresses are counted from; 0: they are whole */
	uint64_t names;     /* where they begin */
	uint64_t functions; /* where the list begins, which `data` is counted from */
	uint64_t data;
	uint64_t count;
	size_t word; /* of the list and of the address in a function's data */
};

static bool get(const struct table *table, uint64_t at, size_t size, uint64_t *ret_number)
{
	if (at > table->size || size > table->size - at)
		return false;
	*ret_number = 0;
	memcpy(ret_number, table->bytes + at, size);
	return true;
}

/* Of a program that is moved, the linker may leave it to the loader to say where the text is. */
static uint64_t relocated(const struct image *image, uint64_t address)
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

static bool set_offsets(struct table *table, uint64_t at, bool has_text)
{
	uint64_t text = 0, number[7];

	/* Functions, files, where the text begins; then offsets of six tables, of which the first is
	 * that of names and the last that of functions. */
	for (size_t i = 0; i < (has_text ? 8 : 7); i++)
		if (!get(table, at + i * 8, 8,
			 has_text && i == 2 ? &text : &number[i - (has_text && i > 2)]))
			return false;
	table->count = number[0];
	table->names = number[2];
	table->functions = table->data = number[6];
	table->word = has_text ? 4 : 8;
	table->text = text;
	return true;
}

static bool open_table(const struct image *image, struct table *table)
{
	uint64_t magic, word, address;

	*table = (struct table){ .bytes = NULL };
	if (!image_bytes(image, ".gopclntab", &table->bytes, &table->size, &address) &&
	    !image_bytes(image, ".data.rel.ro.gopclntab", &table->bytes, &table->size, &address))
		return false;
	if (!get(table, 0, 4, &magic) || !get(table, 7, 1, &word) || word != 8)
		return false;
	if (magic == MAGIC_2) {
		table->functions = 16;
		table->word = 8;
		return get(table, 8, 8, &table->count);
	}
	if (magic == MAGIC_16)
		return set_offsets(table, 8, false);
	if ((magic != MAGIC_18 && magic != MAGIC_20) || !set_offsets(table, 8, true))
		return false;
	table->text = table->text ? table->text : relocated(image, address + TEXT_AT);
	return table->text != 0;
}

static bool get_entry(const struct table *table, uint64_t index, uint64_t *ret_address,
		      uint64_t *ret_data)
{
	uint64_t at = table->functions + index * 2 * table->word;

	if (!get(table, at, table->word, ret_address))
		return false;
	*ret_address += table->text;
	/* Behind the last one is the end of its code alone. */
	return !ret_data || get(table, at + table->word, table->word, ret_data);
}

static const char *name_of(const struct table *table, uint64_t data)
{
	uint64_t name;

	if (__builtin_add_overflow(data, table->data + table->word, &data) ||
	    !get(table, data, 4, &name) || __builtin_add_overflow(name, table->names, &name) ||
	    name >= table->size || !memchr(table->bytes + name, '\0', table->size - name))
		return NULL;
	return (const char *)table->bytes + name;
}

bool go_each(const struct image *image, void (*take)(void *with, const struct name *name),
	     void *with)
{
	struct table table;

	if (!open_table(image, &table))
		return false;
	for (uint64_t i = 0; i < table.count && i < FUNCTIONS_MAX; i++) {
		struct name name = { .rank = 4 };
		uint64_t data, end;

		if (!get_entry(&table, i, &name.address, &data) ||
		    !get_entry(&table, i + 1, &end, NULL))
			break;
		name.text = name_of(&table, data);
		if (!name.text || !name.text[0])
			continue;
		name.length = strlen(name.text);
		name.size = end > name.address ? end - name.address : 0;
		take(with, &name);
	}
	return true;
}

struct place {
	uint64_t address;
	struct range range;
};

static void look(void *with, const struct name *name)
{
	struct place *place = with;

	if (place->address >= name->address && place->address - name->address < name->size)
		place->range = (struct range){ name->address, name->address + name->size };
}

bool go_has(const struct image *image, uint64_t address, struct range *ret_range)
{
	struct place place = { .address = address };

	if (!image->is_go)
		return false;
	/* Without a table that is understood all of it may be Go's. */
	if (!go_each(image, look, &place)) {
		*ret_range = place.range;
		return true;
	}
	if (place.range.end)
		*ret_range = place.range;
	return place.range.end != 0;
}
