/* SPDX-License-Identifier: MIT */
#ifndef EBPF_KSYM_H
#define EBPF_KSYM_H

#include "file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Somebody asks for names of the kernel's functions from now on. */
void ksyms_want(void);

/* Reads /proc/kallsyms, where names are wanted: once, and again an hour later at the earliest when one was
 * not found, as of a module that has been loaded since. Any thread, with a reader of its own. */
void ksyms_refresh(struct file_reader *files, uint64_t now_ns);

/* Takes the functions from the text of such a file, which is changed; lines that are none are passed
 * over. 0 or -ENOMEM. */
int ksyms_parse(char *text);

/* Writes the name of the function that an address is in; false: it is not known. Any thread. */
bool ksym_name(uint64_t address, char *to, size_t size);

void ksyms_done(void);

#endif
