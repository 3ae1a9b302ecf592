/* SPDX-License-Identifier: MIT */
/*
 * Functions of programs and libraries, by symbol, and their markers (USDT), by name. The files are
 * other people's, and whoever reads them may have no memory to allocate: nothing is believed,
 * nothing is kept.
 */
#include "elf.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define SYMBOLS_MAX (1U << 24)
#define NOTES_MAX (1U << 16) /* of all sections */
#define NOTE_MARKER 3        /* its type in sys/sdt.h, of the owner "stapsdt" */
#define VERSION_HIDDEN 0x8000

struct bytes {
	const unsigned char *at;
	size_t size;
};

/* Copies the index-th of an array of such elements; false: it is not inside. */
static bool get(const struct bytes *bytes, uint64_t start, uint64_t index, void *to, size_t size)
{
	uint64_t offset;

	if (__builtin_mul_overflow(index, size, &offset) ||
	    __builtin_add_overflow(offset, start, &offset) || offset > bytes->size ||
	    size > bytes->size - offset)
		return false;
	memcpy(to, bytes->at + offset, size);
	return true;
}

static bool get_header(const struct bytes *bytes, Elf64_Ehdr *ret_header)
{
	static const unsigned char order =
		__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB;

	return get(bytes, 0, 0, ret_header, sizeof(*ret_header)) &&
	       !memcmp(ret_header->e_ident, ELFMAG, SELFMAG) &&
	       ret_header->e_ident[EI_CLASS] == ELFCLASS64 &&
	       ret_header->e_ident[EI_DATA] == order &&
	       (ret_header->e_type == ET_EXEC || ret_header->e_type == ET_DYN) &&
	       ret_header->e_phentsize == sizeof(Elf64_Phdr) &&
	       (ret_header->e_shentsize == sizeof(Elf64_Shdr) || !ret_header->e_shnum);
}

static bool is_loaded(const Elf64_Phdr *segment, uint32_t access)
{
	return segment->p_type == PT_LOAD && segment->p_flags & access;
}

/* Where in the file that is which has this address and can be accessed like this, see PF_X. */
static int offset_of(const struct bytes *bytes, const Elf64_Ehdr *header, uint32_t access,
		     uint64_t address, uint64_t *ret_offset)
{
	Elf64_Phdr segment;

	for (unsigned i = 0; i < header->e_phnum; i++) {
		if (!get(bytes, header->e_phoff, i, &segment, sizeof(segment)))
			return -ENOEXEC;
		if (!is_loaded(&segment, access) || address < segment.p_vaddr ||
		    address - segment.p_vaddr >= segment.p_filesz)
			continue;
		address -= segment.p_vaddr;
		if (__builtin_add_overflow(address, segment.p_offset, &address) ||
		    address >= bytes->size)
			return -ENOEXEC;
		*ret_offset = address;
		return 0;
	}
	return -ENOEXEC;
}

/* The first section of a type; of versions, of this table of symbols. */
static bool find_section(const struct bytes *bytes, const Elf64_Ehdr *header, uint32_t type,
			 unsigned link, Elf64_Shdr *ret_section, unsigned *ret_index)
{
	for (unsigned i = 0; i < header->e_shnum; i++) {
		if (!get(bytes, header->e_shoff, i, ret_section, sizeof(*ret_section)))
			return false;
		if (ret_section->sh_type != type || (link && ret_section->sh_link != link))
			continue;
		*ret_index = i;
		return true;
	}
	return false;
}

struct table {
	Elf64_Shdr symbols, names, versions;
	bool has_versions;
};

static bool find_table(const struct bytes *bytes, const Elf64_Ehdr *header, uint32_t type,
		       struct table *ret_table)
{
	unsigned index, ignored;

	if (!find_section(bytes, header, type, 0, &ret_table->symbols, &index) ||
	    ret_table->symbols.sh_entsize != sizeof(Elf64_Sym) ||
	    !get(bytes, header->e_shoff, ret_table->symbols.sh_link, &ret_table->names,
		 sizeof(ret_table->names)) ||
	    ret_table->names.sh_offset > bytes->size ||
	    ret_table->names.sh_size > bytes->size - ret_table->names.sh_offset)
		return false;
	ret_table->has_versions =
		type == SHT_DYNSYM && index &&
		find_section(bytes, header, SHT_GNU_versym, index, &ret_table->versions, &ignored);
	return true;
}

/* NAME, or NAME@@VERSION, which is the version of who does not ask for one. */
static bool has_name(const struct bytes *bytes, const struct table *table, const Elf64_Sym *symbol,
		     const char *name, size_t length)
{
	const unsigned char *text = bytes->at + table->names.sh_offset + symbol->st_name;

	if (symbol->st_name >= table->names.sh_size ||
	    length >= table->names.sh_size - symbol->st_name || memcmp(text, name, length) != 0)
		return false;
	return text[length] == '\0' ||
	       (text[length] == '@' && length + 1 < table->names.sh_size - symbol->st_name &&
		text[length + 1] == '@');
}

/* Whose symbol counts, where several have one name. */
static unsigned rank_of(const struct bytes *bytes, const struct table *table, uint64_t index,
			const Elf64_Sym *symbol)
{
	Elf64_Half version;

	if (table->has_versions &&
	    get(bytes, table->versions.sh_offset, index, &version, sizeof(version)) &&
	    version & VERSION_HIDDEN)
		return 1;
	switch (ELF64_ST_BIND(symbol->st_info)) {
	case STB_LOCAL:
		return 2;
	case STB_WEAK:
		return 3;
	default:
		return 4;
	}
}

struct found {
	Elf64_Sym symbol;
	unsigned rank; /* 0: none */
	bool is_ambiguous;
};

static void search(const struct bytes *bytes, const struct table *table, const char *name,
		   struct found *found)
{
	uint64_t count = table->symbols.sh_size / sizeof(Elf64_Sym);
	size_t length = strlen(name);
	Elf64_Sym symbol;

	for (uint64_t i = 0; i < count && i < SYMBOLS_MAX; i++) {
		unsigned rank;

		if (!get(bytes, table->symbols.sh_offset, i, &symbol, sizeof(symbol)))
			return;
		if ((ELF64_ST_TYPE(symbol.st_info) != STT_FUNC &&
		     ELF64_ST_TYPE(symbol.st_info) != STT_GNU_IFUNC) ||
		    symbol.st_shndx == SHN_UNDEF || !has_name(bytes, table, &symbol, name, length))
			continue;
		rank = rank_of(bytes, table, i, &symbol);
		if (rank == found->rank && symbol.st_value != found->symbol.st_value)
			found->is_ambiguous = true;
		if (rank > found->rank)
			*found = (struct found){ .symbol = symbol, .rank = rank };
	}
}

int elf_function(const void *at, size_t size, const char *name, uint64_t *ret_offset)
{
	static const uint32_t types[] = { SHT_SYMTAB, SHT_DYNSYM };
	struct bytes bytes = { at, size };
	struct found found = { .rank = 0 };
	bool has_symbols = false;
	Elf64_Ehdr header;

	if (!get_header(&bytes, &header))
		return -ENOEXEC;
	for (int i = 0; i < 2 && !found.rank; i++) {
		struct table table;

		if (!find_table(&bytes, &header, types[i], &table))
			continue;
		has_symbols = true;
		search(&bytes, &table, name, &found);
	}
	if (!found.rank)
		return has_symbols ? -ESRCH : -ENODATA;
	if (found.is_ambiguous)
		return -ENOTUNIQ;
	if (ELF64_ST_TYPE(found.symbol.st_info) == STT_GNU_IFUNC)
		return -EOPNOTSUPP;
	return offset_of(&bytes, &header, PF_X, found.symbol.st_value, ret_offset);
}

/* What the description of a marker begins with: addresses as the linker saw them. */
struct addresses {
	uint64_t code;
	uint64_t base; /* of the section .stapsdt.base, which tells what has been moved since */
	uint64_t semaphore;
};

struct search {
	const char *name; /* PROVIDER:NAME */
	unsigned index;   /* places to go */
	unsigned notes;   /* that have been seen */
	struct addresses found;
};

/* Is it the text, with a NUL behind it? Then that is left behind. */
static bool skip_text(struct bytes *bytes, const char *text, size_t length)
{
	if (length >= bytes->size || memcmp(bytes->at, text, length) != 0 ||
	    bytes->at[length] != '\0')
		return false;
	bytes->at += length + 1;
	bytes->size -= length + 1;
	return true;
}

static bool is_marker(struct bytes description, const char *name)
{
	size_t provider = strcspn(name, ":");

	if (description.size < sizeof(struct addresses) || name[provider] != ':')
		return false;
	description.at += sizeof(struct addresses);
	description.size -= sizeof(struct addresses);
	name += provider + 1;
	return skip_text(&description, name - provider - 1, provider) &&
	       skip_text(&description, name, strlen(name));
}

static size_t padded(uint32_t size)
{
	return ((size_t)size + 3) & ~(size_t)3;
}

/* Is the wanted place among the notes? */
static bool search_notes(struct bytes notes, struct search *search)
{
	Elf64_Nhdr note;

	while (get(&notes, 0, 0, &note, sizeof(note)) && search->notes++ < NOTES_MAX) {
		size_t name = padded(note.n_namesz), size = padded(note.n_descsz);
		struct bytes owner = { notes.at + sizeof(note), notes.size - sizeof(note) };
		struct bytes description;

		if (name > owner.size || note.n_descsz > owner.size - name)
			return false;
		description = (struct bytes){ owner.at + name, note.n_descsz };
		owner.size = note.n_namesz;
		if (note.n_type == NOTE_MARKER && skip_text(&owner, "stapsdt", 7) &&
		    is_marker(description, search->name) && search->index-- == 0)
			return get(&description, 0, 0, &search->found, sizeof(search->found));
		size += sizeof(note) + name;
		if (size > notes.size)
			return false;
		notes.at += size;
		notes.size -= size;
	}
	return false;
}

/* The bytes of a section; none: they are not inside. */
static struct bytes content_of(const struct bytes *bytes, const Elf64_Shdr *section)
{
	if (section->sh_type == SHT_NOBITS || section->sh_offset > bytes->size ||
	    section->sh_size > bytes->size - section->sh_offset)
		return (struct bytes){ bytes->at, 0 };
	return (struct bytes){ bytes->at + section->sh_offset, section->sh_size };
}

static bool search_sections(const struct bytes *bytes, const Elf64_Ehdr *header,
			    struct search *search)
{
	Elf64_Shdr section;

	for (unsigned i = 0; i < header->e_shnum; i++) {
		if (!get(bytes, header->e_shoff, i, &section, sizeof(section)))
			return false;
		if (section.sh_type == SHT_NOTE &&
		    search_notes(content_of(bytes, &section), search))
			return true;
	}
	return false;
}

/* The address of .stapsdt.base; 0: it has none. */
static uint64_t base_of(const struct bytes *bytes, const Elf64_Ehdr *header)
{
	static const char name[] = ".stapsdt.base";
	Elf64_Shdr names, section;
	struct bytes text;

	if (!get(bytes, header->e_shoff, header->e_shstrndx, &names, sizeof(names)))
		return 0;
	for (unsigned i = 0; i < header->e_shnum; i++) {
		if (!get(bytes, header->e_shoff, i, &section, sizeof(section)))
			return 0;
		text = content_of(bytes, &names);
		if (section.sh_name >= text.size)
			continue;
		text.at += section.sh_name;
		text.size -= section.sh_name;
		if (skip_text(&text, name, sizeof(name) - 1))
			return section.sh_addr;
	}
	return 0;
}

int elf_marker(const void *at, size_t size, const char *name, unsigned index,
	       struct elf_marker *ret_marker)
{
	struct bytes bytes = { at, size };
	struct search search = { .name = name, .index = index };
	struct elf_marker marker = { 0 };
	uint64_t base, moved = 0;
	Elf64_Ehdr header;
	int status;

	if (!get_header(&bytes, &header))
		return -ENOEXEC;
	if (!search_sections(&bytes, &header, &search))
		return -ENOMSG;
	base = base_of(&bytes, &header);
	if (base && search.found.base)
		moved = base - search.found.base;
	status = offset_of(&bytes, &header, PF_X, search.found.code + moved, &marker.offset);
	if (status == 0 && search.found.semaphore)
		status = offset_of(&bytes, &header, PF_W, search.found.semaphore + moved,
				   &marker.semaphore);
	if (status == 0)
		*ret_marker = marker;
	return status;
}

int elf_has_code(const void *at, size_t size, uint64_t offset)
{
	struct bytes bytes = { at, size };
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	if (!get_header(&bytes, &header))
		return -ENOEXEC;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		if (!get(&bytes, header.e_phoff, i, &segment, sizeof(segment)))
			return -ENOEXEC;
		if (is_loaded(&segment, PF_X) && offset >= segment.p_offset && offset < size &&
		    offset - segment.p_offset < segment.p_filesz)
			return 0;
	}
	return -EFAULT;
}
