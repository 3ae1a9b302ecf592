/* SPDX-License-Identifier: MIT */
/*
 * Files of /proc and /sys, whose content the kernel makes at each read. They are parsed as bytes,
 * which may include a NUL.
 */
#include "kernel_file.h"

#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CPUS_MAX (1U << 20) /* above what any kernel is built for */

static ssize_t read_regular(int fd, char *text, size_t size)
{
	struct stat file;
	size_t length = 0;

	if (fstat(fd, &file) != 0)
		return -errno;
	if (!S_ISREG(file.st_mode))
		return -EINVAL;
	while (length < size) {
		ssize_t got = read(fd, text + length, size - length);

		if (got < 0 && errno != EINTR)
			return -errno;
		if (got == 0)
			return (ssize_t)length;
		length += got > 0 ? (size_t)got : 0;
	}
	return -EFBIG;
}

ssize_t kernel_file_read(const char *path, char *text, size_t size)
{
	ssize_t length;
	int fd;

	lock_assert_none(path);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	length = read_regular(fd, text, size);
	close(fd);
	return length;
}

/* Parses a decimal number at *at, which moves behind it; UINT64_MAX: there is none, or it is too
 * large. */
static uint64_t parse_decimal(const char **at, const char *end)
{
	uint64_t number = 0;
	bool fits = *at < end && **at >= '0' && **at <= '9';

	for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
		fits = fits && !__builtin_mul_overflow(number, 10, &number) &&
		       !__builtin_add_overflow(number, (uint64_t)(**at - '0'), &number);
	return fits ? number : UINT64_MAX;
}

uint32_t kernel_file_cpus_end(const char *list, size_t length)
{
	const char *at = list, *end = list + length;
	uint64_t highest = 0;

	end -= length > 0 && end[-1] == '\n';
	for (;; at++) {
		uint64_t first = parse_decimal(&at, end), last = first;

		if (at < end && *at == '-') {
			at++;
			last = parse_decimal(&at, end);
		}
		if (first > last || last >= CPUS_MAX)
			return 0;
		highest = last > highest ? last : highest;
		if (at == end)
			return (uint32_t)highest + 1;
		if (*at != ',')
			return 0;
	}
}

uint64_t kernel_file_memlock(const char *info, size_t length)
{
	static const char key[] = "memlock:\t";
	const char *line = info, *end = info + length;

	while (line < end) {
		const char *next = memchr(line, '\n', (size_t)(end - line));
		const char *at = line + sizeof(key) - 1;

		next = next ? next : end;
		if (at < next && !memcmp(line, key, sizeof(key) - 1)) {
			uint64_t bytes = parse_decimal(&at, next);

			return at == next && bytes != UINT64_MAX ? bytes : 0;
		}
		line = next + 1;
	}
	return 0;
}
