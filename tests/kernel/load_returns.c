/* SPDX-License-Identifier: MIT */
/*
 * Calls functions that return in several ways, or do not return: on each line "N", N rounds of
 *   several()      which has four return instructions, as different as they can be
 *   chilled()      which returns from its part NAME.cold, or from itself
 *   tabled()       which jumps by a table
 *   deepest()      which calls itself, 1,000 deep
 *   forked()       which ends in a call of another on one of two paths
 *   handed()       which always does
 *   unsized()      whose symbol has no size
 *   jumping()      which is left by longjmp()
 *   splitting()    which returns in a child, too, and fails there
 * and those of returns_threads.c and returns_coroutines.c. It says of each how often it was called,
 * has returned and has failed, in all.
 */
#include "returns.h"

#include <setjmp.h>
#include <sys/wait.h>

#define DEEP 1000

int several(int number);
int chilled(int number);
int forked(int number);
int handed(int number);
int unsized(int number);
FUNCTION int other(int number);
FUNCTION int tabled(int number);
FUNCTION int deepest(int depth);
FUNCTION int jumping(int number);
FUNCTION int splitting(int number);

static struct counted counted_several, counted_chilled, counted_tabled, counted_deepest,
	counted_forked, counted_handed, counted_unsized, counted_jumping, counted_splitting;

#ifdef __x86_64__
#define RETURN "ret\n"
#define RETURN_PREFIXED ".byte 0xf3, 0xc3\n"
#define RETURN_BOUND ".byte 0xf2, 0xc3\n"
#define RETURN_POP ".byte 0xc2, 0, 0\n"
#define IF_EQUAL(number, label) "cmp $" #number ", %edi\n je " #label "\n"
#define IF_NEGATIVE(label) "test %edi, %edi\n js " label "\n"
#define RESULT(number) "mov $" #number ", %eax\n"
#define JUMP(function) "jmp " function "\n"
#else
#define RETURN "ret\n"
#define RETURN_PREFIXED RETURN
#define RETURN_BOUND RETURN
#define RETURN_POP RETURN
#define IF_EQUAL(number, label) "cmp w0, #" #number "\n b.eq " #label "\n"
#define IF_NEGATIVE(label) "tbz w0, #31, 1f\n b " label "\n 1:\n"
#define RESULT(number) "mov w0, #" #number "\n"
#define JUMP(function) "b " function "\n"
#endif

#define BEGIN(name) ".globl " name "\n.type " name ", %function\n" name ":\n"
#define END(name) ".size " name ", . - " name "\n"

/* clang-format off */
asm(".text\n"
    BEGIN("several")
    IF_EQUAL(0, 3f) IF_EQUAL(1, 4f) IF_EQUAL(2, 5f)
    RESULT(-1) RETURN
    "3:\n" RESULT(0) RETURN_PREFIXED
    "4:\n" RESULT(1) RETURN_BOUND
    "5:\n" RESULT(2) RETURN_POP
    END("several")

    BEGIN("chilled")
    IF_NEGATIVE("chilled.cold")
    RESULT(1) RETURN
    END("chilled")

    BEGIN("forked")
    IF_NEGATIVE("6f")
    RESULT(-1) RETURN
    "6:\n" JUMP("other")
    END("forked")

    BEGIN("handed")
    JUMP("other")
    END("handed")

    BEGIN("unsized")
    RESULT(-1) RETURN

    ".section .text.unlikely, \"ax\", %progbits\n"
    ".type chilled.cold, %function\n"
    "chilled.cold:\n"
    RESULT(-1) RETURN
    END("chilled.cold")
    ".text\n");
/* clang-format on */

int other(int number)
{
	HIDE(number);
	return number;
}

#define ENTRY(n)                                          \
	case n:                                           \
		asm volatile("" : "+r"(number) : "i"(n)); \
		return other(number + n) - 3

int tabled(int number)
{
	switch (number) {
		ENTRY(0);
		ENTRY(1);
		ENTRY(2);
		ENTRY(3);
		ENTRY(4);
		ENTRY(5);
		ENTRY(6);
		ENTRY(7);
	}
	return -1;
}

int deepest(int depth)
{
	int below = 0;

	HIDE(depth);
	if (depth > 1)
		below = CALL(deepest, depth - 1);
	HIDE(below);
	return depth % 100 ? below + 1 : -1;
}

static jmp_buf back;

int jumping(int number)
{
	HIDE(number);
	if (number % 3 == 0)
		longjmp(back, 1);
	return number % 3 == 1 ? -1 : number;
}

static unsigned long jumps;

static void jump(int round)
{
	if (setjmp(back))
		jumps++;
	else
		CALL(jumping, round);
}

int splitting(int number)
{
	pid_t child;

	HIDE(number);
	child = fork();
	if (child > 0)
		waitpid(child, NULL, 0);
	return child > 0 ? number : -1;
}

static void split(int round)
{
	counted_splitting.calls++;
	if (splitting(round) < 0)
		_exit(0);
	counted_splitting.returns++;
}

/* After a tail call, the other function returns. */
static void call_forked(int round)
{
	if (round % 3) {
		CALL(forked, round);
	} else {
		counted_forked.calls++;
		forked(-1);
	}
}

static void call_all(int round)
{
	CALL(several, round % 5);
	CALL(chilled, round % 3 ? round : -1);
	CALL(tabled, round % 9);
	CALL(deepest, round % 10 ? 3 : DEEP);
	call_forked(round);
	CALL(handed, round % 2 ? round : -1);
	CALL(unsized, round);
	jump(round);
	if (round % 10 == 0)
		split(round);
	exit_threads(round);
	switch_stacks(round);
}

static void say_counted(const char *name, const struct counted *counted)
{
	printf("\"%s\": [%lu, %lu, %lu], ", name, counted->calls, counted->returns,
	       counted->failed);
}
#define SAY_COUNTED(name) say_counted(#name, &counted_##name)

static void say_all(void)
{
	printf("{");
	SAY_COUNTED(several);
	SAY_COUNTED(chilled);
	SAY_COUNTED(tabled);
	SAY_COUNTED(deepest);
	SAY_COUNTED(forked);
	SAY_COUNTED(handed);
	SAY_COUNTED(unsized);
	SAY_COUNTED(jumping);
	SAY_COUNTED(splitting);
	SAY_COUNTED(exiting);
	SAY_COUNTED(cancelled);
	SAY_COUNTED(torn);
	SAY_COUNTED(sampled);
	SAY_COUNTED(switched);
	printf("\"jumps\": %lu, \"cleanups\": %lu, \"walked\": %u, \"broken walks\": %lu}\n", jumps,
	       cleanups, walked, broken_walks);
	fflush(stdout);
}

int main(void)
{
	char line[32];

	die_with_parent();
	for (;;) {
		int rounds = atoi(hear(line, sizeof(line)));

		for (int i = 0; i < rounds; i++)
			call_all(i);
		sample_stacks(rounds);
		say_all();
	}
}
