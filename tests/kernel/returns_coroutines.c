/* SPDX-License-Identifier: MIT */
/*
 * Coroutines, of load_returns: several stacks on one thread, on which calls of one function are open
 * at a time and end in another order than they began. In each other round one of them is given up
 * amid its calls, and its stack is used again.
 */
#include "returns.h"

#include <ucontext.h>

#define COROUTINES 3
#define NESTED 3
#define STACK_SIZE (64 * 1024)

FUNCTION int switched(int depth);

struct counted counted_switched;

static struct {
	ucontext_t context;
	char stack[STACK_SIZE] __attribute__((aligned(16)));
	int is_done;
} coroutines[COROUTINES];
static ucontext_t scheduler;
static int running;

static void yield(void)
{
	swapcontext(&coroutines[running].context, &scheduler);
}

int switched(int depth)
{
	int below = 0;

	HIDE(depth);
	yield();
	if (depth > 1)
		below = CALL(switched, depth - 1);
	HIDE(below);
	yield();
	return depth == 2 ? -1 : below;
}

static void coroutine(void)
{
	CALL(switched, NESTED);
	coroutines[running].is_done = 1;
}

static void begin(int number)
{
	ucontext_t *context = &coroutines[number].context;

	getcontext(context);
	context->uc_stack.ss_sp = coroutines[number].stack;
	context->uc_stack.ss_size = STACK_SIZE;
	context->uc_link = &scheduler;
	makecontext(context, coroutine, 0);
	coroutines[number].is_done = 0;
}

static void step(int number)
{
	running = number;
	swapcontext(&scheduler, &coroutines[number].context);
}

/* The first coroutine is a step ahead of the others and ends last. */
void switch_stacks(int round)
{
	int given_up = round % 2 ? 1 : COROUTINES;

	for (int i = 0; i < COROUTINES; i++)
		begin(i);
	for (int k = 0; k < NESTED + 1; k++)
		for (int i = 0; i < COROUTINES; i++)
			step(i);
	for (int i = COROUTINES; i-- > 0;)
		while (i != given_up && !coroutines[i].is_done)
			step(i);
}
