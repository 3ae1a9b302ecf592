/* SPDX-License-Identifier: MIT */
/*
 * bpf/lib/cputime.h, compiled for user space: CPU time up to now, and its division by ticks, for
 * threads of any age.
 */
#include "tests/unit/testing.h"

#include "bpf/lib/cputime.h"

#define TICK 4000000ULL /* ns */
#define DAY 86400000000000ULL

static uint64_t random64(void)
{
	static uint64_t state = 1;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void test_until(void)
{
	CASE("on a CPU since it was last counted");
	CHECK_UINT(cputime_until(5 * TICK, 1000, 1000 + TICK, 2 * TICK), 6 * TICK);
	CASE("the clock of another CPU is behind");
	CHECK_UINT(cputime_until(5 * TICK, 1000, 999, 2 * TICK), 5 * TICK);
	CASE("no tick for too long: the CPU stands still");
	CHECK_UINT(cputime_until(5 * TICK, 1000, 1000 + 2 * TICK, 2 * TICK), 7 * TICK);
	CHECK_UINT(cputime_until(5 * TICK, 1000, 1001 + 2 * TICK, 2 * TICK), 5 * TICK);
}

static void check_part(uint64_t n, uint64_t part, uint64_t whole, uint64_t slack)
{
	uint64_t exact = (uint64_t)((unsigned __int128)n * part / whole);
	uint64_t got = cputime_fraction(n, part, whole);

	CASE("%" PRIu64 " of %" PRIu64 ", of %" PRIu64, part, whole, n);
	CHECK_REAL(got, exact, slack);
}

static void test_part(void)
{
	for (int i = 0; i < 100000; i++) {
		/* From one tick to 10 years of CPU time; the whole is as many ticks, give or
		 * take half of it. */
		uint64_t n = random64() >> (6 + random64() % 40);
		uint64_t whole = (n / 2 + random64() % (n + 1)) / TICK * TICK + TICK;
		uint64_t part = random64() % (whole / TICK + 1) * TICK;

		/* From 2^51 ns, 26 days, on, the last 12 bits of the ticks are ignored. */
		check_part(n, part, whole,
			   n / (1ULL << 40) + 3 + (whole >> 51 ? 3 * 4096 * 256 : 0));
	}
	check_part(123456789, 0, TICK, 0);
	check_part(123456789, TICK, TICK, 0);
	check_part(3650 * DAY, 3650 * DAY, 3650 * DAY, 0);
}

static void test_divide(void)
{
	__u64 user = 0, system = 0;

	CASE("before the first tick");
	cputime_divide(1000, 0, 0, &user, &system);
	CHECK_UINT(user, 1000);
	CHECK_UINT(system, 0);
	CASE("the first tick hits kernel mode: user time does not decrease");
	cputime_divide(TICK, TICK, TICK, &user, &system);
	CHECK_UINT(user, 1000);
	CHECK_UINT(system, TICK - 1000);
	CASE("the second hits user mode: system time does not decrease");
	cputime_divide(TICK + 1000, TICK, 2 * TICK, &user, &system);
	CHECK_UINT(user, 2000);
	CHECK_UINT(system, TICK - 1000);
	CASE("half of all, when that is more");
	cputime_divide(4 * TICK, 2 * TICK, 4 * TICK, &user, &system);
	CHECK_UINT(user, 2 * TICK);
	CHECK_UINT(system, 2 * TICK);
	CASE("less than before");
	cputime_divide(3 * TICK, 0, 4 * TICK, &user, &system);
	CHECK_UINT(user, 2 * TICK);
	CHECK_UINT(system, 2 * TICK);
}

/* A thread that has run in user mode for `before` ns runs in the kernel for a minute, with a
 * reading each second; one tick in five hits it. */
static void test_change(uint64_t before)
{
	__u64 ticks = before / TICK * TICK, stime = 0, user = 0, system = 0;
	__u64 exec = before, last;

	CASE("in the kernel after %" PRIu64 " ns", before);
	cputime_divide(exec, stime, ticks, &user, &system);
	CHECK_UINT(system, 0);
	for (int second = 0; second < 60; second++) {
		exec += 250 * TICK / 5;
		stime += 250 * TICK / 5;
		ticks += 250 * TICK / 5;
		last = system;
		cputime_divide(exec, stime, ticks, &user, &system);
		CHECK_UINT(user + system, exec);
		CHECK_REAL(system - last, 250 * TICK / 5.0, TICK / 2);
	}
}

int main(void)
{
	test_until();
	test_part();
	test_divide();
	test_change(DAY / 24);
	test_change(100 * DAY);
	return testing_end();
}
