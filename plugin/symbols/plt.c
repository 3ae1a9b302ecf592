/* SPDX-License-Identifier: MIT */
/*
 * Procedure linkage tables have no symbols. Each of their entries jumps through a pointer, which the
 * dynamic linker fills in: its relocations say for which pointer which function is looked up.
 */
#include "plt.h"

#include "code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct section {
	const unsigned char *bytes;
	size_t size;
	uint64_t address;
};

static const char *const names[] = { ".plt", ".plt.sec", ".plt.got" };
#define SECTIONS (sizeof(names) / sizeof(*names))

/* The pointers of those that are named so, in order; returns how many. */
static size_t find_pointers(const struct image *image, const struct address *addresses,
			    size_t count, const struct naming *namings, struct address *pointers)
{
	struct section sections[SECTIONS] = { { .size = 0 } };
	size_t found = 0;

	for (size_t i = 0; i < SECTIONS; i++)
		image_bytes(image, names[i], &sections[i].bytes, &sections[i].size,
			    &sections[i].address);
	for (size_t i = 0; i < count * SECTIONS; i++) {
		const struct address *address = &addresses[i / SECTIONS];
		const struct section *section = &sections[i % SECTIONS];
		uint64_t at = address->value - section->address;

		if (!namings[address->index].size && at < section->size &&
		    code_jump_pointer(section->bytes, section->size, (size_t)at, address->value,
				      &pointers[found].value))
			pointers[found++].index = address->index;
	}
	addresses_sort(pointers, found);
	return found;
}

static void take_relocations(const struct image *image, Elf_Data *relocations, size_t symbols,
			     const struct address *pointers, size_t count, struct naming *namings)
{
	Elf_Scn *section = elf_getscn(image->elf, symbols);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Shdr header;
	GElf_Rela entry;
	GElf_Sym symbol;

	if (!data || !gelf_getshdr(section, &header))
		return;
	for (int i = 0; gelf_getrela(relocations, i, &entry); i++) {
		size_t at = addresses_from(pointers, count, entry.r_offset);
		const char *name;

		if (at == count || pointers[at].value != entry.r_offset ||
		    !gelf_getsym(data, (int)GELF_R_SYM(entry.r_info), &symbol))
			continue;
		name = elf_strptr(image->elf, header.sh_link, symbol.st_name);
		for (; name && name[0] && at < count && pointers[at].value == entry.r_offset; at++)
			if (!namings[pointers[at].index].size)
				naming_add(&namings[pointers[at].index], name, strlen(name),
					   "@plt");
	}
}

int plt_name(const struct image *image, const struct address *addresses, size_t count,
	     struct naming *namings)
{
	/* Sections that overlap have an address each. */
	struct address *pointers = calloc(count * SECTIONS + 1, sizeof(*pointers));
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t found;

	if (!pointers)
		return -ENOMEM;
	found = find_pointers(image, addresses, count, namings, pointers);
	while (found && (section = elf_nextscn(image->elf, section)) != NULL) {
		Elf_Data *data = gelf_getshdr(section, &header) && header.sh_type == SHT_RELA
					 ? elf_getdata(section, NULL)
					 : NULL;

		if (data)
			take_relocations(image, data, header.sh_link, pointers, found, namings);
	}
	free(pointers);
	return 0;
}
