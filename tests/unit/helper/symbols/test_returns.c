/* SPDX-License-Identifier: MIT */
/*
 * Return instructions of functions, and for Go the instruction after the check of the stack. The
 * code is that of this program, in forms that compilers and people write.
 */
#include "tests/unit/testing.h"

#include "plugin/helper/symbols/found.h"
#include "plugin/helper/symbols/inlined.h"
#include "plugin/helper/symbols/prologue.h"
#include "plugin/helper/symbols/returns.h"

#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#ifdef __x86_64__

/* Each return instruction has a label FUNCTION_rN. */
asm(".text\n"
    /* Two returns: one with a prefix, one that removes arguments from the stack. */
    ".type two, @function; .globl two\n"
    "two: .cfi_startproc; test %edi, %edi; je 1f\n two_r1: ret\n 1: cmp $1, %edi; je 2f\n"
    "two_r2: rep ret\n 2:\n two_r3: ret $8\n .cfi_endproc; .size two, . - two\n"
    /* Its extent is known only from its symbol. */
    ".type plain, @function; .globl plain\n"
    "plain: inc %eax\n plain_r1: ret\n .size plain, . - plain\n"
    /* A part of a function is elsewhere and has no symbol; the function has a frame. */
    ".type parted, @function; .globl parted\n"
    "parted: .cfi_startproc; push %rbx; .cfi_def_cfa_offset 16; test %edi, %edi; jne 3f; pop %rbx\n"
    ".cfi_def_cfa_offset 8\n parted_r1: ret\n .cfi_endproc; .size parted, . - parted\n"
    ".section .text.unlikely, \"ax\"\n"
    "3: .cfi_startproc; .cfi_def_cfa_offset 16; inc %eax; pop %rbx; .cfi_def_cfa_offset 8\n"
    "parted_r2: ret\n .cfi_endproc\n .text\n"
    /* The same for a function without a frame; the part has a symbol. */
    ".type chilled, @function; .globl chilled\n"
    "chilled: .cfi_startproc; test %edi, %edi; jne chilled.cold\n chilled_r1: ret\n"
    ".cfi_endproc; .size chilled, . - chilled\n"
    ".section .text.unlikely, \"ax\"\n .type chilled.cold, @function\n"
    "chilled.cold: .cfi_startproc; inc %eax\n chilled_r2: ret\n"
    ".cfi_endproc; .size chilled.cold, . - chilled.cold\n .text\n"
    /* A tail call on one of two paths. */
    ".type common, @function; .globl common\n"
    "common: .cfi_startproc; test %edi, %edi; je 4f; jmp plain\n 4: jmp two\n common_r1: ret\n"
    ".cfi_endproc; .size common, . - common\n"
    /* A tail call on each path. */
    ".type handed, @function; .globl handed\n"
    "handed: .cfi_startproc; inc %edi; jmp two\n .cfi_endproc; .size handed, . - handed\n"
    /* Bytes that are no instruction, and bytes that are one but follow no branch. */
    ".type broken, @function; .globl broken\n"
    "broken: .cfi_startproc; jmp 5f; .byte 0x06, 0x06\n 5: ret\n .cfi_endproc; .size broken, . - broken\n"
    ".type crossed, @function; .globl crossed\n"
    "crossed: .cfi_startproc; jmp 6f; .byte 0x48, 0xb8\n 6: ret; nop; nop; nop; nop; nop; nop; nop; ret\n"
    ".cfi_endproc; .size crossed, . - crossed\n"
    /* A function without a size. */
    ".type unsized, @function; .globl unsized\n"
    "unsized: ret\n"
    /* Starts of Go functions: a small frame, and a large one, whose check needs two branches. */
    ".globl small_frame, large_frame, no_frame, frames_end\n"
    "small_frame: cmp 16(%r14), %rsp; jbe 7f\n small_entry: sub $24, %rsp; add $24, %rsp; ret\n"
    "7: mov %rax, 8(%rsp); call two; mov 8(%rsp), %rax; jmp small_frame\n"
    "large_frame: mov %rsp, %r12; sub $4096, %r12; jb 8f; cmp 16(%r14), %r12; jbe 8f\n"
    "large_entry: ret\n 8: call two; jmp large_frame\n"
    "no_frame: test %edi, %edi; je 9f; ret\n 9: call two; ret\n frames_end: nop\n");

extern const char two[], two_r1[], two_r2[], two_r3[], plain[], plain_r1[], parted[], parted_r1[],
	parted_r2[], chilled[], chilled_r1[], chilled_r2[], common[], common_r1[], handed[],
	broken[], crossed[], unsized[], small_frame[], small_entry[], large_frame[], large_entry[],
	no_frame[], frames_end[];

static struct image image;
static uint64_t base; /* address in memory minus address in the file */

static int find_base(struct dl_phdr_info *info, size_t size, void *with)
{
	(void)size;
	*(uint64_t *)with = info->dlpi_addr;
	return 1;
}

static uint64_t address_of(const char *label)
{
	return (uint64_t)label - base;
}

/* An entry as returns_add() expects it. */
static void begin(struct symbol_found *found, const char *function)
{
	struct symbol_location location = { 0 };

	*found = (struct symbol_found){ 0 };
	CHECK_INT(image_offset(&image, PF_X, address_of(function), &location.offset), 0);
	found_add(found, location);
}

static bool has(const struct symbol_found *found, const char *function, const char *label)
{
	for (size_t i = 1; i < found->count; i++)
		if (found->locations[i].offset - found->locations[0].offset ==
		    (uint64_t)(label - function))
			return found->locations[i].flags == (SYMBOL_RETURN | SYMBOL_SINGLE_STEP);
	return false;
}

static void test_found(void)
{
	static const struct {
		const char *name, *function, *returns[4];
	} cases[] = {
		{ "several", two, { two_r1, two_r2, two_r3 } },
		{ "known by its symbol", plain, { plain_r1 } },
		{ "a part without a name", parted, { parted_r1, parted_r2 } },
		{ "a part that has no frame", chilled, { chilled_r1, chilled_r2 } },
		{ "tail calls, too", common, { common_r1 } },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct symbol_found found;
		size_t count = 0;

		if (cases[i].function == parted && !inlined_is_there) {
			printf("built without libdw: no parts without a name\n");
			continue;
		}
		CASE("%s", cases[i].name);
		begin(&found, cases[i].function);
		returns_add(&image, address_of(cases[i].function), &found);
		CHECK_UINT(found.locations[0].flags, 0);
		for (; cases[i].returns[count]; count++)
			CHECK_INT(has(&found, cases[i].function, cases[i].returns[count]), true);
		CHECK_UINT(found.count, count + 1);
		found_done(&found);
	}
}

static void test_refused(void)
{
	static const struct {
		const char *function, *why;
	} cases[] = {
		{ handed, "it has no instruction that returns" },
		{ broken, "data in it" },
		{ crossed, "into the middle of an instruction" },
		{ unsized, "nothing in the file says how large it is" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct symbol_found found;

		CASE("%s", cases[i].why);
		begin(&found, cases[i].function);
		returns_add(&image, address_of(cases[i].function), &found);
		CHECK_UINT(found.count, 1);
		CHECK_UINT(found.locations[0].flags, SYMBOL_NO_RETURNS);
		CHECK_HAS(found.error.text, cases[i].why);
		found_done(&found);
	}
}

static void test_prologues(void)
{
	static const struct {
		const char *function, *end, *entry;
	} cases[] = {
		{ small_frame, large_frame, small_entry },
		{ large_frame, no_frame, large_entry },
		{ no_frame, frames_end, no_frame },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct code_range range = { address_of(cases[i].function),
					    address_of(cases[i].end) };

		CASE("check of the stack %zu", i);
		CHECK_UINT(prologue_size(&image, &range),
			   (uint64_t)(cases[i].entry - cases[i].function));
	}
}

int main(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);

	dl_iterate_phdr(find_base, &base);
	CHECK_INT(image_open(&image, fd, -1), 0);
	test_found();
	test_refused();
	test_prologues();
	image_close(&image);
	close(fd);
	return testing_end();
}

#else

int main(void)
{
	printf("SKIP: the code of this test is for x86-64\n");
	return 77;
}

#endif
