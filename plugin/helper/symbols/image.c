/* SPDX-License-Identifier: MIT */
/*
 * Opens ELF files with libelf, and reads segments, the build ID, and the symbols in .gnu_debugdata.
 */
#include "image.h"

#include "expand.h"
#include "helper/symbol_message.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

static bool is_of_machine(Elf *elf, GElf_Ehdr *ret_header)
{
	return elf && elf_kind(elf) == ELF_K_ELF && gelf_getclass(elf) == ELFCLASS64 &&
	       gelf_getehdr(elf, ret_header) && ret_header->e_machine == MACHINE &&
	       (ret_header->e_type == ET_EXEC || ret_header->e_type == ET_DYN);
}

bool image_bytes(const struct image *image, const char *name, const unsigned char **ret_bytes,
		 size_t *ret_size, uint64_t *ret_address)
{
	GElf_Shdr header;
	Elf_Scn *section = image_section(image->elf, name, &header);
	Elf_Data *data =
		section && header.sh_type != SHT_NOBITS ? elf_rawdata(section, NULL) : NULL;

	if (!data || !data->d_buf)
		return false;
	*ret_bytes = data->d_buf;
	*ret_size = data->d_size;
	if (ret_address)
		*ret_address = header.sh_addr;
	return true;
}

/* Fedora ships a table of function names in each file, compressed with xz. */
static void open_mini(struct image *image)
{
	const unsigned char *packed;
	GElf_Ehdr header;
	size_t size;

	if (!image_bytes(image, ".gnu_debugdata", &packed, &size, NULL))
		return;
	image->mini_bytes = expand_xz(packed, size, &size);
	image->mini = image->mini_bytes ? elf_memory(image->mini_bytes, size) : NULL;
	if (!is_of_machine(image->mini, &header)) {
		elf_end(image->mini);
		image->mini = NULL;
	}
}

static size_t build_id_of(Elf *elf, uint8_t *to, size_t size)
{
	GElf_Shdr header;
	Elf_Scn *section = image_section(elf, ".note.gnu.build-id", &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t name, description;
	GElf_Nhdr note;

	if (!data || !data->d_buf || gelf_getnote(data, 0, &note, &name, &description) == 0 ||
	    note.n_type != NT_GNU_BUILD_ID || note.n_descsz > size)
		return 0;
	memcpy(to, (const char *)data->d_buf + description, note.n_descsz);
	return note.n_descsz;
}

size_t image_build_id(const struct image *image, uint8_t *to, size_t size)
{
	return build_id_of(image->elf, to, size);
}

/* Is the separate file of the same build? A truncated one has no build ID. */
static int check_debug(const struct image *image)
{
	uint8_t own[SYMBOL_BUILD_ID_MAX], other[SYMBOL_BUILD_ID_MAX];
	size_t own_size = build_id_of(image->elf, own, sizeof(own));
	size_t other_size = build_id_of(image->debug, other, sizeof(other));
	GElf_Ehdr header;

	if (!is_of_machine(image->debug, &header))
		return -ENOEXEC;
	if (own_size && !other_size)
		return -ENODATA;
	return own_size == 0 || (own_size == other_size && !memcmp(own, other, own_size)) ? 0
											  : -ESTALE;
}

static void open_debug(struct image *image, int fd)
{
	image->debug = elf_begin(fd, ELF_C_READ, NULL);
	image->debug_status = check_debug(image);
	if (image->debug_status == 0)
		return;
	elf_end(image->debug);
	image->debug = NULL;
}

static int open_all(struct image *image)
{
	GElf_Shdr ignored;

	if (!is_of_machine(image->elf, &image->header)) {
		image_close(image);
		return -ENOEXEC;
	}
	image->is_go = image_section(image->elf, ".go.buildinfo", &ignored) ||
		       image_section(image->elf, ".note.go.buildid", &ignored);
	open_mini(image);
	return 0;
}

int image_open(struct image *image, int fd, int debug_fd)
{
	struct stat file;
	int status;

	elf_version(EV_CURRENT);
	if (fstat(fd, &file) != 0)
		return -errno;
	/* ELF_C_READ, not _MMAP: if the file is truncated, a mapping raises SIGBUS. */
	*image = (struct image){ .elf = elf_begin(fd, ELF_C_READ, NULL),
				 .size = (uint64_t)file.st_size };
	status = open_all(image);
	if (status == 0 && debug_fd >= 0)
		open_debug(image, debug_fd);
	return status;
}

int image_open_bytes(struct image *image, char *bytes, size_t size)
{
	elf_version(EV_CURRENT);
	*image = (struct image){ .elf = elf_memory(bytes, size), .size = size };
	return open_all(image);
}

void image_close(struct image *image)
{
	elf_end(image->mini);
	free(image->mini_bytes);
	elf_end(image->debug);
	elf_end(image->elf);
	*image = (struct image){ .elf = NULL };
}

/* Moves on to the next loaded segment; false: there is none. */
static bool next_segment(const struct image *image, size_t *index, GElf_Phdr *ret_segment)
{
	size_t count;

	if (elf_getphdrnum(image->elf, &count) != 0)
		return false;
	for (; *index < count; ++*index) {
		if (!gelf_getphdr(image->elf, (int)*index, ret_segment))
			return false;
		if (ret_segment->p_type != PT_LOAD)
			continue;
		++*index;
		return true;
	}
	return false;
}

int image_offset(const struct image *image, uint32_t access, uint64_t address, uint64_t *ret_offset)
{
	GElf_Phdr segment;

	for (size_t i = 0; next_segment(image, &i, &segment);) {
		if (!(segment.p_flags & access) || address < segment.p_vaddr ||
		    address - segment.p_vaddr >= segment.p_filesz)
			continue;
		if (__builtin_add_overflow(address - segment.p_vaddr, segment.p_offset, ret_offset))
			return -ENOEXEC;
		return 0;
	}
	return -ENOEXEC;
}

int image_address(const struct image *image, uint64_t offset, uint64_t *ret_address)
{
	GElf_Phdr segment;

	for (size_t i = 0; next_segment(image, &i, &segment);) {
		if (!(segment.p_flags & PF_X) || offset < segment.p_offset ||
		    offset - segment.p_offset >= segment.p_filesz)
			continue;
		*ret_address = segment.p_vaddr + (offset - segment.p_offset);
		return 0;
	}
	return -EFAULT;
}

size_t image_read(const struct image *image, uint64_t offset, void *to, size_t size)
{
	Elf_Data *data;

	if (offset >= image->size)
		return 0;
	if (size > image->size - offset)
		size = (size_t)(image->size - offset);
	data = elf_getdata_rawchunk(image->elf, (int64_t)offset, size, ELF_T_BYTE);
	if (!data || !data->d_buf)
		return 0;
	memcpy(to, data->d_buf, size);
	return size;
}

Elf_Scn *image_section(Elf *elf, const char *name, GElf_Shdr *ret_header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		const char *found;

		if (!gelf_getshdr(section, ret_header))
			continue;
		found = elf_strptr(elf, names, ret_header->sh_name);
		if (found && strcmp(found, name) == 0)
			return section;
	}
	return NULL;
}
