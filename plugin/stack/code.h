/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CODE_NAMES_H
#define EBPF_CODE_NAMES_H

#include "bpf/lib/stack.h"
#include "helper/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whose code frames of stacks are. A frame becomes a number while its process lives, by the mappings
 * that the process has then; the name is asked for later, by which time the process may be gone. Of
 * one thread. */
struct codes;
struct ksyms;

#define CODE_UNKNOWN 0     /* the number of what nothing is known of: "[unknown]" */
#define CODE_NAME_MAX 1024 /* bytes, with inlined functions, with the NUL */

/* files and ksyms stay the caller's, who uses files in this thread only. NULL: no memory. */
struct codes *codes_new(struct file_reader *files, struct ksyms *ksyms);

/* The number of a frame of the process of a record; the same for the same code, also of another
 * process. May read the mappings of a process that is new, or that has new ones. */
uint32_t codes_of(struct codes *codes, const struct stack_head *process,
		  const struct stack_frame *frame);

/* Of an address of the kernel. */
uint32_t codes_of_kernel(struct codes *codes, uint64_t address);

/* Asks for the names of all numbers that are new; what does not answer is told once and remains
 * unknown. Never waits for longer than symbol_name() does, for each file. `between` (may be NULL) is
 * called before each file, so that whoever has to do something at times can; false: no more are asked. */
void codes_look(struct codes *codes, bool (*between)(void *with), void *with);

/* The name, as a part of a folded line: no blank at an end, no control characters, and a semicolon
 * only between functions of which the first has the others inlined; of the kernel's with "_[k]" behind it. "[FILE]" of what has no symbols, where the file is
 * known. It is valid until the next call of codes_forget(). */
const char *codes_name(const struct codes *codes, uint32_t number);

/* Forgets all numbers, and processes that have gone. Files and names stay, within bounds. */
void codes_forget(struct codes *codes);

void codes_free(struct codes *codes);

#endif
