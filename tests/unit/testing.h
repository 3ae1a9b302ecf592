/* SPDX-License-Identifier: MIT */
/*
 * Checks. A failed check prints its position, the case, the value and the expected value, and the
 * test continues; main returns testing_end().
 */
#ifndef TESTING_H
#define TESTING_H

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TESTING_SKIPPED 77
#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static unsigned testing_checks, testing_failures;
static char testing_case[256];

/* Names the case for the messages of failed checks. */
#define CASE(...) snprintf(testing_case, sizeof(testing_case), __VA_ARGS__)

#define CHECK_INT(got, want) testing_int(__FILE__, __LINE__, #got, (got), (want))
#define CHECK_UINT(got, want) testing_uint(__FILE__, __LINE__, #got, (got), (want))
/* Two NAN count as equal. */
#define CHECK_REAL(got, want, tolerance) \
	testing_real(__FILE__, __LINE__, #got, (got), (want), (tolerance))
#define CHECK_TEXT(got, want) testing_text(__FILE__, __LINE__, #got, (got), (want))
/* The text must contain this part. */
#define CHECK_HAS(got, part) testing_has(__FILE__, __LINE__, #got, (got), (part))

static inline bool testing_note(const char *file, int line, const char *what, bool ok)
{
	testing_checks++;
	if (ok)
		return true;
	testing_failures++;
	printf("FAIL %s:%d [%s] %s: ", file, line, testing_case, what);
	return false;
}

static inline void testing_int(const char *file, int line, const char *what, intmax_t got,
			       intmax_t want)
{
	if (!testing_note(file, line, what, got == want))
		printf("got %jd, want %jd\n", got, want);
}

static inline void testing_uint(const char *file, int line, const char *what, uintmax_t got,
				uintmax_t want)
{
	if (!testing_note(file, line, what, got == want))
		printf("got %ju, want %ju\n", got, want);
}

static inline void testing_real(const char *file, int line, const char *what, long double got,
				long double want, long double tolerance)
{
	bool same = isnan(want) ? isnan(got) : got == want || fabsl(got - want) <= tolerance;

	if (!testing_note(file, line, what, same))
		printf("got %.18Lg, want %.18Lg (+- %.3Lg)\n", got, want, tolerance);
}

static inline void testing_text(const char *file, int line, const char *what, const char *got,
				const char *want)
{
	if (!testing_note(file, line, what, got && strcmp(got, want) == 0))
		printf("got \"%s\", want \"%s\"\n", got ? got : "(none)", want);
}

static inline void testing_has(const char *file, int line, const char *what, const char *got,
			       const char *part)
{
	if (!testing_note(file, line, what, got && strstr(got, part)))
		printf("got \"%s\", want it to have \"%s\"\n", got ? got : "(none)", part);
}

/* The path of a file that the build has made; valid until the next call. */
static inline const char *testing_built(const char *name)
{
	const char *build = getenv("abs_top_builddir");
	static char path[4096];

	if (!build)
		build = getcwd(path, sizeof(path) - strlen(name) - 2);
	if (!build)
		abort();
	if (build != path)
		snprintf(path, sizeof(path), "%s", build);
	snprintf(path + strlen(path), sizeof(path) - strlen(path), "/%s", name);
	return path;
}

/* The number of this process's open descriptors. */
static inline unsigned testing_open_files(void)
{
	DIR *directory = opendir("/proc/self/fd");
	unsigned count = 0;

	if (!directory)
		abort();
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

static inline int testing_end(void)
{
	printf("%u checks, %u failed\n", testing_checks, testing_failures);
	return testing_failures || !testing_checks;
}

#endif
