/* SPDX-License-Identifier: MIT */
/*
 * Translates files of v1 controllers into the words of cgroup2, so that one FILE tag serves both.
 */
#include "cgroup1.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kernel's "no limit" is the last page below 2^63; no machine has this much memory. */
#define NO_LIMIT (1ULL << 62)

static ssize_t copy_v1_text(char to[CGROUP1_TEXT_MAX], const char *text, size_t length)
{
	if (length >= CGROUP1_TEXT_MAX)
		return -EINVAL;
	memcpy(to, text, length);
	to[length] = '\0';
	return (ssize_t)length;
}

/* Parses a number that is followed by nothing but a line feed. */
static int parse_v1_number(const char *text, size_t length, long long *ret_number)
{
	char own[32], *end;

	if (length >= sizeof(own))
		return -EINVAL;
	memcpy(own, text, length);
	own[length] = '\0';
	if (!isdigit((unsigned char)own[0]) && own[0] != '-')
		return -EINVAL;
	errno = 0;
	*ret_number = strtoll(own, &end, 10);
	return errno || end == own || (*end && *end != '\n') ? -EINVAL : 0;
}

/* throttled_time, in ns, becomes throttled_usec. Both words have the same length. */
static ssize_t translate_cpu_stat(const char *text, size_t length, const char *second,
				  size_t second_length, char to[CGROUP1_TEXT_MAX])
{
	static const char before[] = "throttled_time ", after[] = "throttled_usec ";
	size_t skip = sizeof(before) - 1, digits;
	ssize_t status = copy_v1_text(to, text, length);
	char *at = status < 0 ? NULL : strstr(to, before);
	unsigned long long time_ns;
	char number[32];

	(void)second;
	(void)second_length;
	if (!at || (at != to && at[-1] != '\n'))
		return status;
	digits = strspn(at + skip, "0123456789");
	errno = 0;
	time_ns = strtoull(at + skip, NULL, 10);
	if (digits == 0 || errno)
		return -EINVAL;
	memcpy(at, after, skip);
	/* The new number is not longer; blanks fill the rest. */
	snprintf(number, sizeof(number), "%llu", time_ns / 1000);
	memset(at + skip, ' ', digits);
	memcpy(at + skip, number, strlen(number));
	return status;
}

/* A quota of -1 is no limit. */
static ssize_t translate_cpu_max(const char *text, size_t length, const char *second,
				 size_t second_length, char to[CGROUP1_TEXT_MAX])
{
	long long quota_us, period_us;

	if (parse_v1_number(text, length, &quota_us) ||
	    parse_v1_number(second, second_length, &period_us) || period_us <= 0)
		return -EINVAL;
	if (quota_us < 0)
		return snprintf(to, CGROUP1_TEXT_MAX, "max %lld\n", period_us);
	return snprintf(to, CGROUP1_TEXT_MAX, "%lld %lld\n", quota_us, period_us);
}

static ssize_t translate_memory_max(const char *text, size_t length, const char *second,
				    size_t second_length, char to[CGROUP1_TEXT_MAX])
{
	long long limit;

	(void)second;
	(void)second_length;
	if (parse_v1_number(text, length, &limit) || limit < 0)
		return -EINVAL;
	return (unsigned long long)limit >= NO_LIMIT ? copy_v1_text(to, "max\n", 4)
						     : copy_v1_text(to, text, length);
}

static ssize_t translate_memory_events(const char *text, size_t length, const char *second,
				       size_t second_length, char to[CGROUP1_TEXT_MAX])
{
	(void)second;
	(void)second_length;
	return copy_v1_text(to, text, length);
}

static const struct cgroup1_file files[] = {
	{ "cpu.stat", "cpu.stat", NULL, translate_cpu_stat },
	{ "cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us", translate_cpu_max },
	{ "memory.max", "memory.limit_in_bytes", NULL, translate_memory_max },
	{ "memory.events", "memory.oom_control", NULL, translate_memory_events },
};

const struct cgroup1_file *cgroup1_file(const char *name)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (!strcmp(files[i].name, name))
			return &files[i];
	return NULL;
}
