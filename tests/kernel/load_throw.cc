/* SPDX-License-Identifier: MIT */
/*
 * Calls functions through which exceptions are thrown: on each line "N", N rounds of
 *   thrown()     which one leaves
 *   caught()     which catches one itself
 *   crossed()    which one of another language leaves, raised in C
 *   ordered()    a function in C, which calls
 *   compared()   which one leaves, and with it ordered()
 * It says of each how often it was called, has returned and has failed, how many exceptions it caught
 * and how many objects were destroyed by them, in all.
 */
#include "returns.h"

#include <stdexcept>

extern "C" {
FUNCTION int thrown(int number);
FUNCTION int caught(int number);
FUNCTION int crossed(int number);
int ordered(int *numbers, int count, int (*compare)(int, int));
FUNCTION int compared(int a, int b);
void raise_foreign(void);
extern unsigned long foreign_dropped;
}

static struct counted counted_thrown, counted_caught, counted_crossed, counted_ordered,
	counted_compared;
static unsigned long exceptions, foreign, destroyed;

struct object {
	~object()
	{
		destroyed++;
	}
};

FUNCTION static int refuse(int number)
{
	HIDE(number);
	if (number % 3 == 0)
		throw std::runtime_error("refused");
	return number % 3 == 1 ? -1 : number;
}

int thrown(int number)
{
	object here;

	return refuse(number);
}

int caught(int number)
{
	try {
		object here;

		return refuse(number);
	} catch (const std::exception &) {
		exceptions++;
	}
	return -1;
}

int crossed(int number)
{
	object here;

	HIDE(number);
	if (number % 3 == 0)
		raise_foreign();
	return number % 3 == 1 ? -1 : number;
}

static int refused; /* the number that nothing compares with */

int compared(int a, int b)
{
	object here;

	HIDE(a);
	if (a == refused || b == refused)
		throw std::runtime_error("not comparable");
	return a - b;
}

static int compare(int a, int b)
{
	return CALL(compared, a, b);
}

static void order(int round)
{
	int numbers[] = { 5, 3, 9, 1, 7, 2 };

	refused = round % 8; /* 0, 4, 6: none of them */
	CALL(ordered, numbers, 6, compare);
}

template <typename function> static void catching(function call)
{
	try {
		call();
	} catch (const std::exception &) {
		exceptions++;
	} catch (...) {
		foreign++;
	}
}

static void call_all(int round)
{
	catching([&] { CALL(thrown, round); });
	catching([&] { CALL(caught, round); });
	catching([&] { CALL(crossed, round); });
	catching([&] { order(round); });
}

static void say_counted(const char *name, const struct counted &counted)
{
	printf("\"%s\": [%lu, %lu, %lu], ", name, counted.calls, counted.returns, counted.failed);
}

static void say_all()
{
	printf("{");
	say_counted("thrown", counted_thrown);
	say_counted("caught", counted_caught);
	say_counted("crossed", counted_crossed);
	say_counted("ordered", counted_ordered);
	say_counted("compared", counted_compared);
	printf("\"exceptions\": %lu, \"foreign\": %lu, \"dropped\": %lu, \"destroyed\": %lu}\n",
	       exceptions, foreign, foreign_dropped, destroyed);
	fflush(stdout);
}

int main()
{
	char line[32];

	die_with_parent();
	for (;;) {
		int rounds = atoi(hear(line, sizeof(line)));

		for (int i = 0; i < rounds; i++)
			call_all(i);
		say_all();
	}
}
