/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_INSTRUCTION_H
#define EBPF_SYMBOLS_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Instructions of this machine: their length, and what they do to the program counter. */

#define INSTRUCTION_SIZE_MAX 15 /* bytes */

/* The length of the first instruction; 0: it is invalid, or longer than size. */
size_t instruction_length(const unsigned char *code, size_t size);

/* Does the instruction return from a function? */
bool instruction_is_return(const unsigned char *code, size_t length);

/* Does the instruction at this address jump (not call) by an offset? Returns where to, and whether
 * it always jumps. */
bool instruction_jumps(const unsigned char *code, size_t length, uint64_t address,
		       uint64_t *ret_destination, bool *ret_always);

/* Must the kernel execute the instruction out of line, in single step, if a breakpoint replaces it?
 * Else the kernel emulates it: arch/x86/kernel/uprobes.c of 5.15 (branches by an offset, push of a
 * register, nop); arch/arm64/kernel/probes/decode-insn.c (all that depends on the program counter).
 * Newer kernels emulate more. */
bool instruction_is_single_step(const unsigned char *code, size_t size);

/* Finds the address of the pointer through which an entry of a procedure linkage table jumps. code
 * + at is anywhere in the entry, and has this address. */
bool instruction_jump_pointer(const unsigned char *code, size_t size, size_t at, uint64_t address,
			      uint64_t *ret_pointer);

#endif
