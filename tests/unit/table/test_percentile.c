/* SPDX-License-Identifier: MIT */
/*
 * Statistics, compared with exact arithmetic on the values.
 */
#include "tests/unit/testing.h"

#include "tests/unit/values.h"

#include "bpf/lib/hist.h"
#include "plugin/table/moments.h"
#include "plugin/table/percentile.h"

#define COUNT 20000
#define LARGEST (1ULL << 47)

struct values_case {
	const char *name;
	enum values_kind kind;
	double scale;
	size_t count;
};

static uint64_t values[COUNT];

/* By the definition of the cells: the squares in limbs of 32 bits, which are summed separately. */
static void add_moments(uint64_t cells[MOMENTS_CELLS], uint64_t value)
{
	unsigned __int128 square = (unsigned __int128)value * value;

	cells[0]++;
	cells[1] += value;
	cells[2] += (uint32_t)square;
	cells[3] += (uint32_t)(square >> 32);
	cells[4] += (uint64_t)(square >> 64);
}

static void check_moments(size_t count)
{
	uint64_t cells[MOMENTS_CELLS] = { 0 };
	long double mean = values_mean(values, count), variance = values_variance(values, count);
	long double cv = mean > 0 ? sqrtl(variance) / mean : NAN;
	struct moments_summary s;

	for (size_t i = 0; i < count; i++)
		add_moments(cells, values[i]);
	s = moments_summarise(cells);
	CHECK_REAL(s.mean, mean, mean * 1e-15L);
	CHECK_REAL(s.variance, variance, variance * 1e-12L);
	CHECK_REAL(s.cv, cv, cv * 1e-12L);
}

/* From the fourth case on, a sum of squares in 64 bits overflows. */
static void test_moments(void)
{
	static const struct values_case cases[] = {
		{ "one value", VALUES_CONSTANT, 42, 1 },
		{ "zeros", VALUES_CONSTANT, 0, 1000 },
		{ "small", VALUES_UNIFORM, 100, COUNT },
		{ "seconds in ns", VALUES_EXPONENTIAL, 1e9, COUNT },
		{ "hours in ns", VALUES_EXPONENTIAL, 3.6e12, COUNT },
		{ "up to 2^47", VALUES_UNIFORM, (double)LARGEST, COUNT },
		{ "all 2^47", VALUES_CONSTANT, (double)LARGEST, COUNT },
		{ "two peaks", VALUES_TWO_PEAKS, 1e10, COUNT },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("moments, %s", cases[i].name);
		values_fill(values, cases[i].count, cases[i].kind, cases[i].scale);
		check_moments(cases[i].count);
	}
}

/* A small variance of large values, which a difference of large sums would lose. */
static void test_moments_large_and_close(void)
{
	static const uint64_t large[] = { 1000000000ULL, 1000000000000ULL, LARGEST };

	for (size_t i = 0; i < COUNT_OF(large); i++) {
		CASE("moments, %" PRIu64 " and one more", large[i]);
		for (size_t j = 0; j < 1000; j++)
			values[j] = large[i] + j % 2;
		check_moments(1000);
	}
}

static void test_moments_none(void)
{
	uint64_t cells[MOMENTS_CELLS] = { 0 };
	struct moments_summary s = moments_summarise(cells);

	CASE("moments, nothing was added");
	CHECK_REAL(s.mean, NAN, 0);
	CHECK_REAL(s.variance, NAN, 0);
	CHECK_REAL(s.cv, NAN, 0);
}

/* A reading between the additions to two cells: results are finite, and no variance is negative. */
static void test_moments_torn(void)
{
	uint64_t cells[MOMENTS_CELLS] = { 0 };
	struct moments_summary s;

	CASE("moments, the square is not yet there");
	add_moments(cells, 1000);
	cells[0]++;
	cells[1] += 1000;
	s = moments_summarise(cells);
	CHECK_REAL(s.mean, 1000, 0);
	CHECK_REAL(s.variance, 0, 0);
	CHECK_REAL(s.cv, 0, 0);
}

static void fill_hist(uint64_t *buckets, size_t count)
{
	memset(buckets, 0, HIST_CELLS * sizeof(*buckets));
	for (size_t i = 0; i < count; i++)
		buckets[hist_index(values[i])]++;
}

/* The error that stats.h permits: half a bucket. */
static long double bound(uint64_t exact)
{
	return exact < HIST_SUB ? 0 : (long double)exact / 32;
}

static void check_percentiles(const uint64_t *buckets, const char *name, size_t count)
{
	static const unsigned permilles[] = { 1, 10, 100, 250, 500, 750, 900, 950, 990, 999, 1000 };

	for (size_t i = 0; i < COUNT_OF(permilles); i++) {
		uint64_t exact = values_percentile(values, count, permilles[i]);

		CASE("%s, percentile %g of %zu", name, permilles[i] / 10.0, count);
		CHECK_REAL(hist_percentile(buckets, HIST_BUCKETS, permilles[i] / 10.0, false),
			   exact, bound(exact));
	}
}

static void test_hist(void)
{
	static const struct values_case cases[] = {
		{ "a single 0", VALUES_CONSTANT, 0, 1 },
		{ "a single 15", VALUES_CONSTANT, 15, 1 },
		{ "constant, low end of a bucket", VALUES_CONSTANT, 65536, COUNT },
		{ "constant, high end of a bucket", VALUES_CONSTANT, 65536 + 4095, COUNT },
		{ "exact range", VALUES_UNIFORM, 16, COUNT },
		{ "uniform", VALUES_UNIFORM, 1e6, COUNT },
		{ "exponential", VALUES_EXPONENTIAL, 1e5, COUNT },
		{ "log-uniform", VALUES_LOG_UNIFORM, 1e12, COUNT },
		{ "two peaks", VALUES_TWO_PEAKS, 5e4, COUNT },
		{ "few values", VALUES_LOG_UNIFORM, 1e9, 7 },
		{ "a thousand", VALUES_LOG_UNIFORM, 1e9, 1000 },
	};
	static uint64_t buckets[HIST_CELLS];

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		size_t count = cases[i].count;
		long double mean;

		values_fill(values, count, cases[i].kind, cases[i].scale);
		mean = values_mean(values, count);
		fill_hist(buckets, count);
		values_sort(values, count);
		check_percentiles(buckets, cases[i].name, count);
		CASE("%s", cases[i].name);
		CHECK_UINT(hist_count(buckets, HIST_BUCKETS), count);
		CHECK_REAL(hist_mean(buckets, HIST_BUCKETS), mean, mean / 32);
		for (size_t k = 0; k < count; k++)
			buckets[HIST_BUCKETS] += values[k];
		CHECK_REAL(hist_mean(buckets, HIST_BUCKETS), mean, mean * 1e-15L);
	}
}

/* 999 of 1000 values are 10 or less, so the percentile 99.9 is 10; rounding must not make it the
 * other value. */
static void test_hist_rank(void)
{
	static const struct {
		double percent;
		uint64_t low, high;
	} cases[] = {
		{ 99.9, 999, 1 }, { 99.9, 999000, 1000 }, { 55, 55, 45 },     { 7, 7, 93 },
		{ 28, 28, 72 },   { 57, 57, 43 },         { 14, 14, 86 },     { 99.99, 9999, 1 },
		{ 29, 29, 71 },   { 58, 58, 42 },         { 0.1, 1, 999 },    { 1.1, 33, 2967 },
		{ 4.4, 33, 717 }, { 9.8, 147, 1353 },     { 33.3, 333, 667 },
	};
	static uint64_t buckets[HIST_CELLS];

	memset(buckets, 0, sizeof(buckets));
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("percentile %g of %" PRIu64 " low and %" PRIu64 " high", cases[i].percent,
		     cases[i].low, cases[i].high);
		buckets[10] = cases[i].low;
		buckets[12] = cases[i].high;
		CHECK_REAL(hist_percentile(buckets, HIST_BUCKETS, cases[i].percent, false), 10, 0);
		buckets[10]--;
		buckets[12]++;
		CHECK_REAL(hist_percentile(buckets, HIST_BUCKETS, cases[i].percent, false), 12, 0);
	}
}

/* Sizes are mostly what a bucket begins with. */
static void test_least(void)
{
	static const uint64_t sizes[] = { 512, 4096, 12288, 12288, 65536, 1310720 };
	uint64_t buckets[HIST_BUCKETS] = { 0 };

	CASE("least");
	for (size_t i = 0; i < COUNT_OF(sizes); i++)
		buckets[hist_index(sizes[i])]++;
	for (size_t i = 0; i < COUNT_OF(sizes); i++)
		CHECK_REAL(
			hist_percentile(buckets, HIST_BUCKETS, 100.0 * (double)(i + 1) / 6, true),
			sizes[i], 0);
	CASE("least of others");
	memset(buckets, 0, sizeof(buckets));
	buckets[hist_index(4096 + 255)] = 1;
	CHECK_REAL(hist_percentile(buckets, HIST_BUCKETS, 50, true), 4096, 0);
}

/* A reading between the additions to a bucket and to the sum: the mean stays within the buckets. */
static void test_sum(void)
{
	static const struct {
		const char *name;
		uint64_t value, count, sum;
		double want;
	} cases[] = {
		{ "4096", 4096, 1000, 4096000, 4096 },
		{ "odd", 4099, 3, 3 * 4099, 4099 },
		{ "zeros", 0, 7, 0, 0 },
		{ "a sample is not in the sum", 4096, 2, 4096, 4096 },
		{ "the sum is ahead", 4096, 1, 3 * 4096, 4351 },
		{ "without a sum", 4096, 5, 0, 4221.58 },
		{ "without a sum, a single value", 31, 5, 0, 31 },
		{ "beyond the end", 1ULL << 41, 2, 1ULL << 42, 0x1p41 },
		{ "the sum has wrapped", UINT64_MAX, 2, UINT64_MAX - 1, 0x1p63 },
	};
	uint64_t buckets[HIST_CELLS] = { 0 };

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("sum, %s", cases[i].name);
		buckets[hist_index(cases[i].value)] = cases[i].count;
		buckets[HIST_BUCKETS] = cases[i].sum;
		CHECK_REAL(hist_mean(buckets, HIST_BUCKETS), cases[i].want, 0.005);
		buckets[hist_index(cases[i].value)] = 0;
	}
}

/* The error is the same upwards and downwards, and a single value is exact. */
static void test_geometric_middle(void)
{
	uint64_t buckets[HIST_BUCKETS] = { 0 };

	for (uint32_t i = 0; i < HIST_BUCKETS; i++) {
		double low = (double)hist_lower(i), high = (double)hist_lower(i + 1) - 1;

		CASE("geometric middle, bucket %u", i);
		buckets[i] = 1;
		CHECK_REAL(hist_percentile(buckets, HIST_BUCKETS, 50, false), sqrtl(low * high),
			   high * 1e-15);
		buckets[i] = 0;
	}
}

struct tail_case {
	const char *name;
	uint64_t low, middle, high, want; /* how many, and from which value on they are large */
};

/* Five percent of 10, 12 and 14. */
static void test_hist_tail(void)
{
	static const struct tail_case cases[] = {
		{ "none", 0, 0, 0, 0 },
		{ "one", 1, 0, 0, 11 },
		{ "all equal", 100, 0, 0, 11 },
		{ "exactly so many", 95, 0, 5, 11 },
		{ "fewer, the others equal", 967, 0, 33, 11 },
		{ "more, and equal", 80, 0, 20, 14 },
		{ "half, and equal", 50, 0, 50, 14 },
		{ "most, and equal", 49, 0, 51, 15 },
		{ "nearer with them", 90, 6, 4, 13 },
		{ "nearer without them", 80, 17, 3, 13 },
		{ "far too few without them", 80, 19, 1, 12 },
	};
	static uint64_t buckets[HIST_CELLS];

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("tail, %s", cases[i].name);
		buckets[10] = cases[i].low;
		buckets[12] = cases[i].middle;
		buckets[14] = cases[i].high;
		CHECK_UINT(hist_tail(buckets, HIST_BUCKETS, 5), cases[i].want);
	}
}

static void test_hist_ends(void)
{
	static uint64_t buckets[HIST_CELLS];

	CASE("empty");
	CHECK_UINT(hist_count(buckets, HIST_BUCKETS), 0);
	CHECK_REAL(hist_mean(buckets, HIST_BUCKETS), NAN, 0);
	CHECK_REAL(hist_percentile(buckets, HIST_BUCKETS, 50, false), NAN, 0);
	CASE("beyond the end");
	buckets[hist_index(UINT64_MAX)] = 3;
	CHECK_REAL(hist_percentile(buckets, HIST_BUCKETS, 50, false), 0x1p40, 0x1p40 / 16);
	CASE("0 %% is the least");
	buckets[5] = 1;
	CHECK_REAL(hist_percentile(buckets, HIST_BUCKETS, 0, false), 5, 0);
}

int main(void)
{
	test_moments();
	test_moments_large_and_close();
	test_moments_none();
	test_moments_torn();
	test_hist();
	test_hist_rank();
	test_least();
	test_sum();
	test_geometric_middle();
	test_hist_tail();
	test_hist_ends();
	return testing_end();
}
