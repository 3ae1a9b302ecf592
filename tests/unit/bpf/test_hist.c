/* SPDX-License-Identifier: MIT */
/*
 * bpf/lib/hist.h, compiled for user space: the bucket of a value, and the values of a bucket.
 */
#include "tests/unit/testing.h"

#include "bpf/lib/hist.h"

#define LAST (HIST_BUCKETS - 1)
#define END (1ULL << HIST_POWER_MAX) /* values from here on are in the last bucket */

static void test_shift(void)
{
	for (unsigned power = 0; power < 64; power++) {
		uint64_t lowest = 1ULL << power;
		unsigned shift = power < HIST_BITS ? 0 : power - HIST_BITS;

		CASE("2^%u", power);
		CHECK_UINT(hist_shift(lowest), shift);
		CHECK_UINT(hist_shift(lowest | (lowest - 1)), shift);
	}
	CASE("0");
	CHECK_UINT(hist_shift(0), 0);
}

/* Buckets are contiguous, and each value is in the bucket that says so. */
static void test_borders(void)
{
	CHECK_UINT(hist_lower(0), 0);
	for (uint32_t i = 0; i < HIST_BUCKETS; i++) {
		uint64_t low = hist_lower(i), high = hist_lower(i + 1) - 1;

		CASE("bucket %u", i);
		CHECK_INT(low <= high, 1);
		CHECK_UINT(hist_index(low), i);
		CHECK_UINT(hist_index(high), i);
		CHECK_UINT(hist_index(low + (high - low) / 2), i);
		if (low >= HIST_SUB)
			CHECK_INT((high - low + 1) * HIST_SUB <= low, 1);
		else
			CHECK_UINT(high, low);
	}
	CASE("the end");
	CHECK_UINT(hist_lower(HIST_BUCKETS), END);
}

/* Values around each power of two, and around each sixteenth above it. */
static void test_inverse(void)
{
	for (unsigned power = 0; power < HIST_POWER_MAX; power++)
		for (uint64_t sub = HIST_SUB; sub < 2 * HIST_SUB; sub++)
			for (int delta = -1; delta <= 1; delta++) {
				uint64_t value = (sub << power >> HIST_BITS) + (uint64_t)delta;
				uint32_t i = hist_index(value);

				CASE("%" PRIu64, value);
				if (value >= END)
					continue;
				CHECK_INT(hist_lower(i) <= value && value < hist_lower(i + 1), 1);
			}
}

static void test_large(void)
{
	static const uint64_t values[] = { END, END + 1, 1ULL << 41, 1ULL << 63, UINT64_MAX };

	CASE("the largest of its own");
	CHECK_UINT(hist_index(END - 1), LAST);
	for (size_t i = 0; i < COUNT_OF(values); i++) {
		CASE("%" PRIu64, values[i]);
		CHECK_UINT(hist_index(values[i]), LAST);
	}
}

int main(void)
{
	test_shift();
	test_borders();
	test_inverse();
	test_large();
	return testing_end();
}
