/* SPDX-License-Identifier: MIT */
/*
 * Stack frame sizes, from the instructions of programs that are made here.
 */
#include "tests/unit/testing.h"

#include "plugin/attach/frame.h"

#define MAX 8
#define COPY(to, from)                                                                  \
	{                                                                               \
		.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = (to), .src_reg = (from) \
	}
#define ADD(to, n)                                                               \
	{                                                                        \
		.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = (to), .imm = (n) \
	}
#define SET(to)                                                      \
	{                                                            \
		.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (to) \
	}
#define LOAD(base, at)                                                                           \
	{                                                                                        \
		.code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = 1, .src_reg = (base), .off = (at) \
	}
#define STORE(base, at)                                                            \
	{                                                                          \
		.code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = (base), .off = (at) \
	}
#define STORE_ZERO(base, at)                                                     \
	{                                                                        \
		.code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = (base), .off = (at) \
	}
#define CALL(source, number)                                                     \
	{                                                                        \
		.code = BPF_JMP | BPF_CALL, .src_reg = (source), .imm = (number) \
	}
#define EXIT                               \
	{                                  \
		.code = BPF_JMP | BPF_EXIT \
	}

static const struct {
	const char *what;
	struct bpf_insn program[MAX];
	unsigned want;
} CASES[] = {
	{ "no frame", { SET(0), EXIT }, 0 },
	{ "a store", { STORE(10, -24), EXIT }, 24 },
	{ "a constant", { STORE_ZERO(10, -4), EXIT }, 4 },
	{ "a load", { LOAD(10, -16), EXIT }, 16 },
	{ "the lowest", { STORE(10, -8), STORE(10, -56), STORE(10, -16), EXIT }, 56 },
	{ "an address for a helper", { COPY(2, 10), ADD(2, -80), CALL(0, 1), EXIT }, 80 },
	{ "an address in two steps", { COPY(6, 10), ADD(6, -80), ADD(6, -8), EXIT }, 88 },
	{ "a store by a copy", { COPY(6, 10), ADD(6, -40), COPY(7, 6), STORE(7, -8), EXIT }, 48 },
	{ "a member above", { COPY(6, 10), ADD(6, -40), STORE(6, 8), EXIT }, 40 },
	{ "a store elsewhere", { COPY(6, 1), ADD(6, -80), STORE(6, -8), EXIT }, 0 },
	{ "a register that is used again",
	  { COPY(6, 10), ADD(6, -8), SET(6), ADD(6, -80), EXIT },
	  8 },
	{ "a register that is loaded", { COPY(1, 10), LOAD(1, -8), ADD(1, -80), EXIT }, 8 },
	{ "a register that a call may change", { COPY(1, 10), CALL(0, 1), ADD(1, -80), EXIT }, 0 },
	{ "a register that a call keeps", { COPY(6, 10), CALL(0, 1), ADD(6, -80), EXIT }, 80 },
	{ "another function", { COPY(6, 10), EXIT, ADD(6, -80), EXIT, STORE(10, -64), EXIT }, 64 },
	{ "a tail call", { STORE(10, -80), CALL(0, BPF_FUNC_tail_call), EXIT }, 0 },
	{ "a function of the program with its number",
	  { STORE(10, -80), CALL(BPF_PSEUDO_CALL, BPF_FUNC_tail_call), EXIT },
	  80 },
};

int main(void)
{
	for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
		CASE("%s", CASES[i].what);
		CHECK_INT(frame_size(CASES[i].program, MAX), CASES[i].want);
	}
	return testing_end();
}
