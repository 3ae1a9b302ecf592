/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ARGUMENT_H
#define EBPF_ARGUMENT_H

#include "bpf/lib/function.h"

#include <bpf/btf.h>
#include <stdbool.h>
#include <stddef.h>

/* Finds where an argument is when a function is called, in the form that the programs of
 * bpf/lib/function.h read. Each function returns false if the argument is unavailable, and then
 * `why` says the reason. */

/* Finds argument `number` (from 1) by the calling convention of this machine: in a register or on
 * the stack. All arguments are assumed to be integers or addresses. */
bool argument_by_number(unsigned number, struct function_argument *ret_argument, char *why,
			size_t size);

/* Finds argument `number` (from 1) of an fentry program, which gets them as an array of 8-byte
 * values. */
bool argument_of_entry(unsigned number, struct function_argument *ret_argument, char *why,
		       size_t size);

/* Finds number and type of an argument of a kernel function by its name. `btf` is the kernel's. */
bool argument_by_name(const struct btf *btf, const char *function, const char *name,
		      unsigned *ret_number, struct function_type *ret_type, char *why, size_t size);

/* Finds argument `number` (from 1) of a marker in the text that sys/sdt.h writes: "-4@%edi
 * 8@16(%rsp)". */
bool argument_of_marker(const char *arguments, unsigned number,
			struct function_argument *ret_argument, char *why, size_t size);

#endif
