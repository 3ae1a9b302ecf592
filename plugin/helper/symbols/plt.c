/* SPDX-License-Identifier: MIT */
/*
 * Procedure linkage tables have no symbols. Each entry jumps through a pointer that the dynamic
 * linker fills in; the relocation of that pointer says which function is called.
 */
#include "plt.h"

#include "instruction.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct plt_section {
	const unsigned char *bytes;
	size_t size;
	uint64_t address;
};

static const char *const names[] = { ".plt", ".plt.sec", ".plt.got" };
#define SECTIONS (sizeof(names) / sizeof(*names))

static void find_sections(const struct image *image, struct plt_section *ret_sections)
{
	for (size_t i = 0; i < SECTIONS; i++) {
		struct plt_section *section = &ret_sections[i];

		*section = (struct plt_section){ .size = 0 };
		image_bytes(image, names[i], &section->bytes, &section->size, &section->address);
	}
}

bool plt_has(const struct image *image, uint64_t address)
{
	struct plt_section sections[SECTIONS];
	bool has = false;

	find_sections(image, sections);
	for (size_t i = 0; i < SECTIONS; i++)
		has |= address - sections[i].address < sections[i].size;
	return has;
}

/* Finds the pointers of those addresses that have no name. They are sorted. Returns how many. */
static size_t find_pointers(const struct image *image, const struct code_address *addresses,
			    size_t count, const struct naming *namings,
			    struct code_address *pointers)
{
	struct plt_section sections[SECTIONS];
	size_t found = 0;

	find_sections(image, sections);
	for (size_t i = 0; i < count * SECTIONS; i++) {
		const struct code_address *address = &addresses[i / SECTIONS];
		const struct plt_section *section = &sections[i % SECTIONS];
		uint64_t at = address->value - section->address;

		if (!namings[address->index].size && at < section->size &&
		    instruction_jump_pointer(section->bytes, section->size, (size_t)at,
					     address->value, &pointers[found].value))
			pointers[found++].index = address->index;
	}
	addresses_sort(pointers, found);
	return found;
}

static void name_by_relocations(const struct image *image, Elf_Data *relocations, size_t symbols,
				const struct code_address *pointers, size_t count,
				struct naming *namings)
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

int plt_name(const struct image *image, const struct code_address *addresses, size_t count,
	     struct naming *namings)
{
	/* Sections may overlap, so each address may be in all of them. */
	struct code_address *pointers = calloc(count * SECTIONS + 1, sizeof(*pointers));
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
			name_by_relocations(image, data, header.sh_link, pointers, found, namings);
	}
	free(pointers);
	return 0;
}
