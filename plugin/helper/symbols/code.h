/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_CODE_H
#define EBPF_SYMBOLS_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Instructions of this kind of machine. */

#define CODE_INSTRUCTION_MAX 15 /* bytes */

/* How many bytes the first one has; 0: it is none, or longer than size. */
size_t code_length(const unsigned char *code, size_t size);

/* Does it return from a function? */
bool code_is_return(const unsigned char *code, size_t length);

/* Does it jump (not call) by an offset? Where to, of an instruction at this address, and whether it does so always. */
bool code_jumps(const unsigned char *code, size_t length, uint64_t address, uint64_t *ret_target,
		bool *ret_always);

/* Must the kernel have it executed elsewhere, in single step, when a breakpoint has taken its place?
 * Otherwise the kernel does itself what it would do: arch/x86/kernel/uprobes.c, of 5.15 (branches by
 * an offset, push of a register, nop); arch/arm64/kernel/probes/decode-insn.c (what has to do with
 * the program counter). Newer kernels do more so. */
bool code_is_stepped(const unsigned char *code, size_t size);

/* The address of the pointer through which the entry of a procedure linkage table jumps; what is at
 * code + at, which has this address, is somewhere in the entry. */
bool code_jump_pointer(const unsigned char *code, size_t size, size_t at, uint64_t address,
		       uint64_t *ret_pointer);

#endif
