/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ELF_H
#define EBPF_ELF_H

#include <stddef.h>
#include <stdint.h>

/* Finds a function of a program or library by its symbol: where in the file its code begins. Reads
 * inside of the bytes alone, whatever is in them, in time that their number bounds; needs no
 * memory. -ENOEXEC: no program of this kind of machine, or a broken one; -ENODATA: it has
 * no symbols; -ESRCH: none of this name; -ENOTUNIQ: several; -EOPNOTSUPP: which of several functions
 * it is, the program itself finds out when it starts (IFUNC). */
int elf_function(const void *bytes, size_t size, const char *name, uint64_t *ret_offset);

struct elf_marker {
	uint64_t offset;    /* of its code in the file */
	uint64_t semaphore; /* where in the file the number of its watchers is; 0: it has none */
};

/* Finds a marker (USDT) by PROVIDER:NAME, the index-th of its places. Reads as elf_function() does.
 * -ENOEXEC; -ENOMSG: there is no such marker, or no such place of it. */
int elf_marker(const void *bytes, size_t size, const char *name, unsigned index,
	       struct elf_marker *ret_marker);

/* Is there code at this offset of the file? 0, -ENOEXEC, or -EFAULT: no. */
int elf_has_code(const void *bytes, size_t size, uint64_t offset);

#endif
