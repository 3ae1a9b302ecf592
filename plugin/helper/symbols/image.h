/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_IMAGE_H
#define EBPF_SYMBOLS_IMAGE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A program or library, by libelf: 64 bits, of this machine, or refused. */
struct image {
	Elf *elf;
	Elf *debug;       /* a separate file of symbols; NULL: none, or of no use */
	int debug_status; /* why it is of no use, see struct symbol_answer */
	Elf *mini;        /* the symbols in .gnu_debugdata; NULL: none */
	void *mini_bytes;
	GElf_Ehdr header;
	uint64_t size; /* bytes of the file */
	bool is_go;
};

/* Code from one address up to another. */
struct range {
	uint64_t begin, end;
};

/* Takes no ownership of the descriptor, which is read by its offsets; debug_fd -1: none. -ENOEXEC;
 * -ENOMEM. */
int image_open(struct image *image, int fd, int debug_fd);

/* The same of bytes, which may be changed. */
int image_open_bytes(struct image *image, char *bytes, size_t size);

void image_close(struct image *image);

/* Where in the file that is which has this address and can be accessed like this, see PF_X;
 * -ENOEXEC: nowhere. */
int image_offset(const struct image *image, uint32_t access, uint64_t address,
		 uint64_t *ret_offset);

/* The address of code at this offset of the file; -EFAULT: there is none. */
int image_address(const struct image *image, uint64_t offset, uint64_t *ret_address);

/* Copies what is at this offset of the file; returns how much there was. */
size_t image_read(const struct image *image, uint64_t offset, void *to, size_t size);

/* A section by name; NULL: there is none. */
Elf_Scn *image_section(Elf *elf, const char *name, GElf_Shdr *ret_header);

/* The bytes of a section by name; false: there is none, or it is not in the file. */
bool image_bytes(const struct image *image, const char *name, const unsigned char **ret_bytes,
		 size_t *ret_size, uint64_t *ret_address);

/* The build ID; returns its size, 0: it has none. */
size_t image_build_id(const struct image *image, uint8_t *to, size_t size);

#endif
