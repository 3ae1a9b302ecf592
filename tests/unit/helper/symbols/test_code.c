/* SPDX-License-Identifier: MIT */
/*
 * Instructions: their length, which of them return, and which the kernel cannot emulate for a
 * uprobe.
 */
#include "tests/unit/testing.h"

#include "plugin/helper/symbols/instruction.h"

#ifdef __x86_64__
/* As in the output of objdump -d. */
static const struct {
	const char *text;
	unsigned char code[15];
	size_t length;
	bool is_single_stepped;
} CASES[] = {
	{ "nop", { 0x90 }, 1, false },
	{ "push %rbp", { 0x55 }, 1, false },
	{ "push %r15", { 0x41, 0x57 }, 2, false },
	{ "jmp rel8", { 0xeb, 0x10 }, 2, false },
	{ "jmp rel32", { 0xe9, 1, 2, 3, 4 }, 5, false },
	{ "call rel32", { 0xe8, 1, 2, 3, 4 }, 5, false },
	{ "je rel8", { 0x74, 0x10 }, 2, false },
	{ "je rel32", { 0x0f, 0x84, 1, 2, 3, 4 }, 6, false },
	{ "endbr64", { 0xf3, 0x0f, 0x1e, 0xfa }, 4, true },
	{ "sub $0x18,%rsp", { 0x48, 0x83, 0xec, 0x18 }, 4, true },
	{ "sub $0x118,%rsp", { 0x48, 0x81, 0xec, 0x18, 1, 0, 0 }, 7, true },
	{ "mov %rsp,%rbp", { 0x48, 0x89, 0xe5 }, 3, true },
	{ "mov 8(%rsp,%rax,4),%ecx", { 0x8b, 0x4c, 0x84, 0x08 }, 4, true },
	{ "mov 0(,%rax,8),%rax", { 0x48, 0x8b, 0x04, 0xc5, 1, 2, 3, 4 }, 8, true },
	{ "lea x(%rip),%rdi", { 0x48, 0x8d, 0x3d, 1, 2, 3, 4 }, 7, true },
	{ "movabs", { 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8 }, 10, true },
	{ "mov $1,%ax", { 0x66, 0xb8, 1, 0 }, 4, true },
	{ "test $1,%dil", { 0x40, 0xf6, 0xc7, 1 }, 4, true },
	{ "neg %eax", { 0xf7, 0xd8 }, 2, true },
	{ "ret", { 0xc3 }, 1, true },
	{ "repz ret", { 0xf3, 0xc3 }, 2, true },
	{ "bnd ret", { 0xf2, 0xc3 }, 2, true },
	{ "ret $8", { 0xc2, 8, 0 }, 3, true },
	{ "syscall", { 0x0f, 0x05 }, 2, true },
	{ "pshufb", { 0x66, 0x0f, 0x38, 0x00, 0xc1 }, 5, true },
	{ "palignr", { 0x66, 0x0f, 0x3a, 0x0f, 0xc1, 4 }, 6, true },
	{ "vzeroupper", { 0xc5, 0xf8, 0x77 }, 3, true },
	{ "vpalignr", { 0xc4, 0xe3, 0x7d, 0x0f, 0xc1, 4 }, 6, true },
	{ "vmovdqu64 (%rsi),%zmm16", { 0x62, 0xe1, 0xfe, 0x48, 0x6f, 0x06 }, 6, true },
	{ "vaddph %zmm1,%zmm0,%zmm0", { 0x62, 0xf5, 0x7c, 0x48, 0x58, 0xc1 }, 6, true },
	{ "{nf} add $5,%ecx,%edx", { 0x62, 0xf4, 0x6c, 0x1c, 0x83, 0xc1, 5 }, 0, true },
	{ "urdmsr $1,%rax", { 0xc4, 0xe7, 0x7b, 0xf8, 0xc0, 1, 0, 0, 0 }, 0, true },
	{ "invalid", { 0x06 }, 0, true },
	{ "prefixes alone",
	  { 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
	    0x66 },
	  0,
	  true },
};

static void test_cases(void)
{
	for (size_t i = 0; i < COUNT_OF(CASES); i++) {
		const unsigned char *code = CASES[i].code;
		size_t length = CASES[i].length ? CASES[i].length : sizeof(CASES[i].code);

		CASE("%s", CASES[i].text);
		CHECK_UINT(instruction_length(code, length), CASES[i].length);
		CHECK_UINT(instruction_is_single_step(code, length), CASES[i].is_single_stepped);
		CHECK_UINT(instruction_is_return(code, length),
			   strstr(CASES[i].text, "ret") != NULL);
		if (CASES[i].length)
			CHECK_UINT(instruction_length(code, CASES[i].length - 1), 0);
	}
}

/* Entries of procedure linkage tables, followed by other bytes. */
static void test_jump_pointers(void)
{
	static const struct {
		unsigned char code[16];
		size_t at;
		uint64_t pointer; /* of the entry at 0x1000; 0: it is no entry */
	} cases[] = {
		{ { 0xff, 0x25, 0x10, 0x20, 0, 0, 0x68 }, 0, 0x3016 },
		{ { 0xff, 0x25, 0x10, 0x20, 0, 0, 0x68 }, 11, 0x3016 },
		{ { 0xff, 0x25, 0xf0, 0xff, 0xff, 0xff, 0x66, 0x90 }, 6, 0xff6 },
		{ { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0x10, 0x20 }, 15, 0x301a },
		{ { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0x10, 0x20 }, 4, 0x301b },
		{ { 0xff, 0x35, 0x10, 0x20, 0, 0, 0xff, 0x25, 0x10 }, 0, 0 },
		{ { 0xe9, 0x10, 0x20 }, 0, 0 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		uint64_t pointer = 0;

		CASE("entry %zu of a procedure linkage table", i);
		CHECK_INT(instruction_jump_pointer(cases[i].code, 16, cases[i].at,
						   0x1000 + cases[i].at, &pointer),
			  cases[i].pointer != 0);
		CHECK_UINT(pointer, cases[i].pointer);
	}
}
#else
static void test_jump_pointers(void)
{
	/* bti c; adrp x16, 0x11000; ldr x17, [x16, #0xfb8]; add; br x17; nop */
	static const uint32_t entry[] = { 0xd503245f, 0x90000090, 0xf947de11,
					  0x913ee210, 0xd61f0220, 0xd503201f };
	uint64_t pointer;

	for (size_t at = 0; at < sizeof(entry); at++) {
		CASE("entry of a procedure linkage table, %zu", at);
		CHECK_INT(instruction_jump_pointer((const unsigned char *)entry, sizeof(entry), at,
						   0x1000 + at, &pointer),
			  true);
		CHECK_UINT(pointer, 0x11fb8);
	}
}

static void test_cases(void)
{
	static const uint32_t push = 0xa9bf7bfd, ret = 0xd65f03c0, branch = 0x14000001;

	CASE("stp, ret, b");
	CHECK_UINT(instruction_length((const unsigned char *)&push, 4), 4);
	CHECK_UINT(instruction_length((const unsigned char *)&push, 3), 0);
	CHECK_UINT(instruction_is_single_step((const unsigned char *)&push, 4), true);
	CHECK_UINT(instruction_is_single_step((const unsigned char *)&branch, 4), false);
	CHECK_UINT(instruction_is_return((const unsigned char *)&ret, 4), true);
	CHECK_UINT(instruction_is_return((const unsigned char *)&push, 4), false);
}
#endif

/* For any bytes, nothing behind the end is read. */
static void test_any(void)
{
	unsigned seed = 1;
	uint64_t pointer, destination;
	size_t length;
	bool always;

	CASE("any bytes");
	for (int n = 0; n < 200000; n++) {
		size_t size = (size_t)n % 17;
		unsigned char *code = malloc(size + 1);

		for (size_t i = 0; i < size; i++)
			code[i] = (unsigned char)((seed = seed * 1103515245 + 12345) >> 16);
		code = realloc(code, size ? size : 1);
		length = instruction_length(code, size);
		if (length > size)
			CHECK_UINT(length, size);
		if (length)
			instruction_jumps(code, length, 0, &destination, &always);
		instruction_is_single_step(code, size);
		for (size_t at = 0; at < size; at++)
			instruction_jump_pointer(code, size, at, at, &pointer);
		free(code);
	}
	CHECK_UINT(instruction_length(NULL, 0), 0);
}

int main(void)
{
	test_cases();
	test_jump_pointers();
	test_any();
	return testing_end();
}
