/* SPDX-License-Identifier: MIT */
/*
 * A regular expression, which is the first line, and the text to match, which is the rest. No match
 * may need much memory or time.
 */
#include "fuzz.h"

#include "plugin/util/regex.h"

#include <time.h>

#define BYTES_MAX (16UL << 20)
#define TIME_MAX_NS 1000000000ULL /* 25 ms without sanitizers on an idle machine */

/* Defined by the sanitizers only. */
__attribute__((weak)) size_t __sanitizer_get_current_allocated_bytes(void);

static size_t allocated(void)
{
	return __sanitizer_get_current_allocated_bytes ? __sanitizer_get_current_allocated_bytes()
						       : 0;
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *subject = text, why[256] = "";
	const char *expression = strsep(&subject, "\n");
	uint64_t begin_ns = cpu_ns();
	size_t before = allocated();
	struct regex regex;

	if (regex_init(&regex, expression, why, sizeof(why))) {
		regex_match(&regex, subject ? subject : "");
		FUZZ_WANT(allocated() < before + BYTES_MAX);
		regex_done(&regex);
	} else {
		FUZZ_WANT(why[0]);
	}
	FUZZ_WANT(cpu_ns() - begin_ns < TIME_MAX_NS);
	free(text);
	return 0;
}
