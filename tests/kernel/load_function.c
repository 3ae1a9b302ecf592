/* SPDX-License-Identifier: MIT */
/*
 * Calls functions of its own. On each line "N" it goes N rounds, in each of which it calls
 *   failing()     which returns -1 in one call of four, else a positive number
 *   nested()      which calls itself, 5 deep
 *   deep()        likewise, 20 deep
 *   slow()        which takes some time, by its own clock
 *   jumped()      which calls nested() and leaves that by longjmp()
 *   tailed()      which ends in a call of itself
 *   named()       with one of three names
 *   numbered()    with -1 or 2
 *   sized()       with seven numbers
 *   returning()   which returns bytes, or -1
 * passes the marker load:sized with two numbers and a name, and sends itself a byte. It says how often each was called, in
 * all, the sums of what they were given, and the time in slow().
 */
#include "load.h"
#include "tests/unit/marker.h"

#include <setjmp.h>
#include <sys/socket.h>

#define FUNCTION __attribute__((noinline, noclone))
#define NESTED 5
#define DEEP 20

FUNCTION int failing(unsigned long round);
FUNCTION unsigned nested(unsigned depth);
FUNCTION unsigned deep(unsigned depth);
FUNCTION void slow(void);
FUNCTION unsigned jumped(unsigned n);
FUNCTION unsigned tailed(unsigned n);
FUNCTION unsigned named(const char *name);
FUNCTION unsigned numbered(int number);
FUNCTION unsigned sized(unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned f,
			unsigned g);
FUNCTION long returning(unsigned long round);

static struct {
	unsigned long failing, failed, nested, deep, slow, jumped, tailed, named, numbered, sized;
	unsigned long second, seventh, returned, marked;
	uint64_t slow_ns;
} so_far;

static jmp_buf back;
static unsigned (*volatile again)(unsigned n) = tailed; /* a call that is not inlined */
static unsigned jump_at; /* the depth at which nested() does not return; 0: it returns */

/* Hides a value from the compiler, so that calls are not optimised away. */
#define HIDE(value) asm volatile("" : "+r"(value)::"memory")

int failing(unsigned long round)
{
	HIDE(round);
	return round % 4 == 0 ? -1 : (int)(round % 1000) + 1;
}

unsigned nested(unsigned depth)
{
	unsigned below = 0;

	so_far.nested++;
	if (depth && depth == jump_at)
		longjmp(back, 1);
	if (depth < NESTED)
		below = nested(depth + 1);
	HIDE(below);
	return below + 1;
}

unsigned deep(unsigned depth)
{
	unsigned below = 0;

	so_far.deep++;
	if (depth < DEEP)
		below = deep(depth + 1);
	HIDE(below);
	return below + 1;
}

void slow(void)
{
	struct timespec time = { .tv_nsec = 300000 };

	nanosleep(&time, NULL);
}

unsigned jumped(unsigned n)
{
	HIDE(n);
	jump_at = 3;
	if (setjmp(back) == 0)
		nested(1);
	jump_at = 0;
	return 1;
}

unsigned tailed(unsigned n)
{
	so_far.tailed++;
	HIDE(n);
	return n == 0 ? 0 : again(n - 1);
}

unsigned named(const char *name)
{
	HIDE(name);
	return name[0];
}

unsigned numbered(int number)
{
	HIDE(number);
	return (unsigned)number;
}

unsigned sized(unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned f, unsigned g)
{
	HIDE(g);
	return a + b + c + d + e + f + g;
}

long returning(unsigned long round)
{
	HIDE(round);
	return round % 3 == 0 ? -1 : (long)(round % 100);
}

static int pair[2];

static void talk(void)
{
	char byte = 0;

	if (sendto(pair[0], &byte, 1, 0, NULL, 0) != 1 ||
	    recvfrom(pair[1], &byte, 1, 0, NULL, NULL) != 1)
		exit(1);
}

static void call_all(unsigned long round)
{
	static const char *const names[] = { "alpha", "be/ta", "gamma" };
	uint64_t began_ns;
	long returned;

	so_far.failed += failing(round) < 0;
	so_far.failing++;
	nested(1);
	deep(1);
	began_ns = clock_ns(CLOCK_MONOTONIC);
	if (round % 10 == 0) {
		slow();
		so_far.slow++;
		so_far.slow_ns += clock_ns(CLOCK_MONOTONIC) - began_ns;
	}
	jumped(1);
	so_far.jumped++;
	tailed(1);
	named(names[round % 3]);
	so_far.named++;
	numbered(round % 2 ? -1 : 2);
	so_far.numbered++;
	sized(1, (unsigned)round, 3, 4, 5, 6, 7);
	so_far.sized++;
	so_far.second += (unsigned)round;
	so_far.seventh += 7;
	MARKER_WITH("load", "sized", 0, "-4@%[a] 8@%[b] 8@%[c]", [a] "nor"((int)(round % 5) - 1),
		    [b] "nor"(round), [c] "r"(names[round % 3]));
	so_far.marked++;
	talk();
	returned = returning(round);
	so_far.returned += returned > 0 ? (unsigned long)returned : 0;
}

int main(void)
{
	unsigned long round = 0;
	char line[512];

	die_with_parent();
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		err(1, "socketpair");
	for (;;) {
		unsigned long end = round + strtoul(hear(line, sizeof(line)), NULL, 10);

		while (round < end)
			call_all(round++);
		sprintf(line,
			"{\"failing\": %lu, \"failed\": %lu, \"nested\": %lu, \"deep\": %lu, "
			"\"slow\": %lu, \"slow_ns\": %lu, \"jumped\": %lu, \"tailed\": %lu, "
			"\"named\": %lu, \"numbered\": %lu, \"sized\": %lu, \"second\": %lu, "
			"\"seventh\": %lu, \"returned\": %lu, \"marked\": %lu}\n",
			so_far.failing, so_far.failed, so_far.nested, so_far.deep, so_far.slow,
			so_far.slow_ns, so_far.jumped, so_far.tailed, so_far.named, so_far.numbered,
			so_far.sized, so_far.second, so_far.seventh, so_far.returned,
			so_far.marked);
		say(line);
	}
}
