/* SPDX-License-Identifier: MIT */
/*
 * Code that frames of stacks are in. A frame becomes a number while its process lives, by the
 * mappings that the process has then. The name is asked for later, when the process may have
 * exited. Of one thread.
 */
#ifndef EBPF_CODE_H
#define EBPF_CODE_H

#include "bpf/lib/stack.h"
#include "code_name.h"
#include "helper/file.h"

#include <stdint.h>

struct codes;
struct ksyms;

/* files and ksyms stay the caller's, who uses files in this thread only. NULL: no memory. */
struct codes *codes_new(struct file_helper *files, struct ksyms *ksyms);

/* The number of a frame of the process of a record. The same code has the same number in every
 * process. May read the mappings of the process if it is new, or has new ones. */
uint32_t codes_of(struct codes *codes, const struct stack_head *process,
		  const struct stack_frame *frame);

/* The number of an address in the kernel. */
uint32_t codes_of_kernel(struct codes *codes, uint64_t address);

/* Makes all numbers invalid and forgets processes. Files and names stay, within bounds. */
void codes_forget(struct codes *codes);

void codes_free(struct codes *codes);

#endif
