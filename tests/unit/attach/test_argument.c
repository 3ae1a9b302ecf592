/* SPDX-License-Identifier: MIT */
/*
 * Locations of arguments of functions and markers.
 */
#include "tests/unit/testing.h"

#include "plugin/attach/argument.h"

#include <asm/ptrace.h>
#include <stddef.h>

static void describe(char *to, size_t size, const struct function_argument *a)
{
	static const char *const sources[] = { "unknown", "register", "memory", "constant" };

	snprintf(to, size, "%s %u %lld %s%u", sources[a->source], a->offset, (long long)a->value,
		 a->type.is_signed ? "s" : "u", 8U * a->type.size);
}

static void test_numbers(void)
{
	struct function_argument argument;
	char why[256] = "";

	CASE("no number");
	CHECK_INT(argument_by_number(0, &argument, why, sizeof(why)), false);
	CHECK_HAS(why, "from 1");
	CASE("fentry");
	CHECK_INT(argument_of_entry(3, &argument, why, sizeof(why)), true);
	CHECK_UINT(argument.offset, 16);
	CHECK_INT(argument_of_entry(13, &argument, why, sizeof(why)), false);
	CHECK_HAS(why, "1 to 12");
#ifdef __x86_64__
	CASE("register");
	CHECK_INT(argument_by_number(1, &argument, why, sizeof(why)), true);
	CHECK_UINT(argument.offset, offsetof(struct pt_regs, rdi));
	CHECK_UINT(argument.source, FUNCTION_REGISTER);
	CASE("stack");
	CHECK_INT(argument_by_number(8, &argument, why, sizeof(why)), true);
	CHECK_UINT(argument.offset, offsetof(struct pt_regs, rsp));
	CHECK_UINT(argument.source, FUNCTION_MEMORY);
	CHECK_INT(argument.value, 16);
#endif
}

#ifdef __x86_64__

#define RAX "80"
#define RSP "152"
#define R12 "24"

static void test_markers(void)
{
	static const struct {
		const char *arguments;
		unsigned number;
		const char *want; /* or a part of the error */
		bool good;
	} cases[] = {
		{ "-4@%eax 8@%r12", 1, "register " RAX " 0 s32", true },
		{ "-4@%eax 8@%r12", 2, "register " R12 " 0 u64", true },
		{ "  1@%al  ", 1, "register " RAX " 0 u8", true },
		{ "8@-16(%rsp)", 1, "memory " RSP " -16 u64", true },
		{ "2@(%rsp)", 1, "memory " RSP " 0 u16", true },
		{ "-8@$-5", 1, "constant 0 -5 s64", true },
		{ "4@$0x10", 1, "constant 0 16 u32", true },
		{ "8@%rax", 2, "has 1 argument", false },
		{ "", 1, "has no arguments", false },
		{ NULL, 1, "has no arguments", false },
		{ "8@%rxx", 1, "\"8@%rxx\", cannot be read", false },
		{ "1@%ah", 1, "cannot be read", false },
		{ "8f@%xmm0", 1, "cannot be read", false },
		{ "8@(%rax,%rbx,8)", 1, "cannot be read", false },
		{ "8@symbol(%rip)", 1, "cannot be read", false },
		{ "3@%eax", 1, "cannot be read", false },
		{ "8@", 1, "cannot be read", false },
		{ "@", 1, "cannot be read", false },
		{ "8@8(%rsp", 1, "cannot be read", false },
		{ "8@$99999999999999999999", 1, "cannot be read", false },
		{ "8@[a b", 1, "cannot be read", false },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct function_argument argument = { 0 };
		char got[128], why[256] = "";

		CASE("%s", cases[i].arguments ?: "none");
		CHECK_INT(argument_of_marker(cases[i].arguments, cases[i].number, &argument, why,
					     sizeof(why)),
			  cases[i].good);
		describe(got, sizeof(got), &argument);
		if (cases[i].good)
			CHECK_TEXT(got, cases[i].want);
		else
			CHECK_HAS(why, cases[i].want);
	}
}

#else

static void test_markers(void)
{
}

#endif

int main(void)
{
	test_numbers();
	test_markers();
	return testing_end();
}
