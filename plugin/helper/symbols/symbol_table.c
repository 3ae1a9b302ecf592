/* SPDX-License-Identifier: MIT */
/*
 * Reads the functions of symbol tables.
 */
#include "symbol_table.h"

#include <string.h>

#define SYMBOLS_MAX (1U << 24)
#define VERSION_HIDDEN 0x8000

static Elf_Data *section_data(Elf *elf, uint32_t type, size_t link, GElf_Shdr *ret_header,
			      size_t *ret_index)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)) != NULL) {
		if (!gelf_getshdr(section, ret_header) || ret_header->sh_type != type ||
		    (link && ret_header->sh_link != link))
			continue;
		*ret_index = elf_ndxscn(section);
		return elf_getdata(section, NULL);
	}
	return NULL;
}

static unsigned symbol_rank(const GElf_Sym *symbol, Elf_Data *versions, size_t index)
{
	GElf_Versym version;

	if (symbol->st_shndx == SHN_UNDEF)
		return 0;
	if (versions && gelf_getversym(versions, (int)index, &version) && version & VERSION_HIDDEN)
		return 1;
	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_LOCAL:
		return 2;
	case STB_WEAK:
		return 3;
	default:
		return 4;
	}
}

/* The length of NAME in NAME and in NAME@@VERSION, the default version. NAME@VERSION is a name of
 * its own. */
static size_t name_length(const char *text)
{
	const char *at = strchr(text, '@');

	return at && at[1] == '@' ? (size_t)(at - text) : strlen(text);
}

static Elf *elf_of(const struct image *image, enum symbol_table which)
{
	return which == SYMBOL_TABLE_DEBUG  ? image->debug
	       : which == SYMBOL_TABLE_MINI ? image->mini
					    : image->elf;
}

static Elf_Data *symbols_of(const struct image *image, enum symbol_table which,
			    GElf_Shdr *ret_header, size_t *ret_index)
{
	uint32_t type = which == SYMBOL_TABLE_DYNAMIC ? SHT_DYNSYM : SHT_SYMTAB;
	Elf *elf = elf_of(image, which);

	return elf ? section_data(elf, type, 0, ret_header, ret_index) : NULL;
}

bool symbol_table_has(const struct image *image, enum symbol_table which)
{
	GElf_Shdr ignored;
	size_t index;

	return symbols_of(image, which, &ignored, &index) != NULL;
}

bool symbol_table_each(const struct image *image, enum symbol_table which,
		       void (*visit)(void *with, const struct name *name), void *with)
{
	Elf *elf = elf_of(image, which);
	GElf_Shdr header, ignored;
	size_t table, at;
	Elf_Data *symbols = symbols_of(image, which, &header, &table);
	Elf_Data *versions;
	GElf_Sym symbol;

	if (!symbols)
		return false;
	versions = section_data(elf, SHT_GNU_versym, table, &ignored, &at);
	for (size_t i = 0; i < SYMBOLS_MAX && gelf_getsym(symbols, (int)i, &symbol); i++) {
		unsigned type_of_symbol = GELF_ST_TYPE(symbol.st_info);
		struct name name = { .address = symbol.st_value, .size = symbol.st_size };

		if (type_of_symbol != STT_FUNC && type_of_symbol != STT_GNU_IFUNC)
			continue;
		name.text = elf_strptr(elf, header.sh_link, symbol.st_name);
		if (!name.text || !name.text[0])
			continue;
		name.length = name_length(name.text);
		name.rank = symbol_rank(&symbol, versions, i);
		name.is_chosen = type_of_symbol == STT_GNU_IFUNC;
		visit(with, &name);
	}
	return true;
}
