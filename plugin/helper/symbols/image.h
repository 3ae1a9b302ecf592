/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_IMAGE_H
#define EBPF_SYMBOLS_IMAGE_H

/* ELF files. */

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An open program or library, read by libelf: of 64 bits and of this machine. */
struct image {
	Elf *elf;
	Elf *debug;       /* a separate file of symbols; NULL: none, or it is not used */
	int debug_status; /* why it is not used, see struct symbol_reply */
	Elf *mini;        /* the symbols in .gnu_debugdata; NULL: none */
	void *mini_bytes;
	GElf_Ehdr header;
	uint64_t size; /* bytes of the file */
	bool is_go;
};

/* Addresses from begin up to end, exclusive. */
struct code_range {
	uint64_t begin, end;
};

/* Opens the file behind a descriptor, which stays the caller's and is read at offsets. debug_fd: a
 * separate file of symbols, -1: none. -ENOEXEC: it is of another kind; -ENOMEM. */
int image_open(struct image *image, int fd, int debug_fd);

/* The same for a file in memory, which libelf may change. */
int image_open_bytes(struct image *image, char *bytes, size_t size);

void image_close(struct image *image);

/* The offset in the file of an address with this access (PF_X ...); -ENOEXEC: no segment has it. */
int image_offset(const struct image *image, uint32_t access, uint64_t address,
		 uint64_t *ret_offset);

/* The address of the code at this offset of the file; -EFAULT: there is none. */
int image_address(const struct image *image, uint64_t offset, uint64_t *ret_address);

/* Copies bytes at this offset of the file. Returns how many there were. */
size_t image_read(const struct image *image, uint64_t offset, void *to, size_t size);

/* A section by name; NULL: there is none. */
Elf_Scn *image_section(Elf *elf, const char *name, GElf_Shdr *ret_header);

/* The bytes of a section by name; false: there is none, or the file does not have its bytes. */
bool image_bytes(const struct image *image, const char *name, const unsigned char **ret_bytes,
		 size_t *ret_size, uint64_t *ret_address);

/* Copies the build ID. Returns its size; 0: there is none. */
size_t image_build_id(const struct image *image, uint8_t *to, size_t size);

#endif
