/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ARGUMENT_H
#define EBPF_ARGUMENT_H

#include "bpf/lib/function.h"

#include <bpf/btf.h>
#include <stdbool.h>
#include <stddef.h>

/* Where arguments are when a function is called, as programs of function.h read them. All return
 * false where one is unavailable, with the reason in words. */

/* The argument of a number, from 1, by the calling convention of this machine: in a register, or on
 * the stack; all arguments are integers or addresses. */
bool argument_by_number(unsigned number, struct function_argument *ret_argument, char *why,
			size_t size);

/* Likewise for fentry, which has them in a row. */
bool argument_of_entry(unsigned number, struct function_argument *ret_argument, char *why,
		       size_t size);

/* The number and the type of an argument of a kernel's function, by its name; btf is the kernel's. */
bool argument_by_name(const struct btf *btf, const char *function, const char *name,
		      unsigned *ret_number, struct function_type *ret_type, char *why, size_t size);

/* The argument of a number, from 1, of a marker, as sys/sdt.h writes them: "-4@%edi 8@16(%rsp)". */
bool argument_of_marker(const char *arguments, unsigned number,
			struct function_argument *ret_argument, char *why, size_t size);

#endif
