/* SPDX-License-Identifier: MIT */
/*
 * Folded files in an open directory. They are replaced by rename, so that whoever reads one sees it
 * as it was or as it is, never a part.
 */
#include "folded_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".folded"
/* only one exists at a time; one that was left behind is overwritten */
#define TEMPORARY ".ebpf-new"
#define READ_MAX ((size_t)FOLDED_BYTES_MAX + 65536)
#define ST_BLOCK 512

/* --- names --- */

void folded_hour(time_t when, char hour[FOLDED_HOUR_MAX])
{
	struct tm local = { .tm_mday = 1 };

	localtime_r(&when, &local);
	if (!strftime(hour, FOLDED_HOUR_MAX, "%Y%m%d-%H", &local))
		memcpy(hour, "00000000-00", FOLDED_HOUR_MAX);
}

static bool is_view_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

bool folded_is_view(const char *view)
{
	size_t length = 0;

	while (is_view_letter(view[length]))
		length++;
	return length && length < FOLDED_VIEW_MAX && !view[length];
}

void folded_name_text(const struct folded_name *name, char text[FOLDED_NAME_MAX])
{
	snprintf(text, FOLDED_NAME_MAX, "%s-%s-%s" SUFFIX, name->service, name->view, name->hour);
}

static bool is_hour(const char *text)
{
	for (size_t i = 0; i < FOLDED_HOUR_MAX - 1; i++)
		if (i == 8 ? text[i] != '-' : text[i] < '0' || text[i] > '9')
			return false;
	return true;
}

bool folded_name_parse(const char *text, struct folded_name *ret_name)
{
	size_t tail = FOLDED_HOUR_MAX + strlen(SUFFIX), length = strlen(text), service;
	struct folded_name name = { 0 };
	const char *hyphen;

	/* The text ends in "-YYYYMMDD-HH.folded"; "SERVICE-VIEW" is in front of that. */
	if (length <= tail || strcmp(text + length - strlen(SUFFIX), SUFFIX))
		return false;
	length -= tail;
	if (text[length] != '-' || !is_hour(text + length + 1))
		return false;
	hyphen = memrchr(text, '-', length);
	service = hyphen ? (size_t)(hyphen - text) : 0;
	if (!service || service >= sizeof(name.service) || length - service > sizeof(name.view))
		return false;
	memcpy(name.service, text, service);
	memcpy(name.view, hyphen + 1, length - service - 1);
	memcpy(name.hour, text + length + 1, FOLDED_HOUR_MAX - 1);
	if (!folded_is_view(name.view))
		return false;
	*ret_name = name;
	return true;
}

/* --- reading --- */

static int read_until_end(int fd, char *bytes, size_t size, size_t *ret_size)
{
	size_t have = 0;

	while (have < size) {
		ssize_t got = read(fd, bytes + have, size - have);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		have += (size_t)got;
	}
	*ret_size = have;
	return 0;
}

/* A file longer than READ_MAX was not written by this code; what is behind is ignored. */
static int read_folded(int fd, struct folded *to)
{
	struct stat file;
	size_t size = 0;
	char *bytes;
	int status;

	if (fstat(fd, &file))
		return -errno;
	if (!S_ISREG(file.st_mode))
		return -EINVAL;
	size = (uint64_t)file.st_size < READ_MAX ? (size_t)file.st_size : READ_MAX;
	bytes = malloc(size + 1);
	if (!bytes)
		return -ENOMEM;
	status = read_until_end(fd, bytes, size, &size);
	if (status == 0)
		folded_parse(to, bytes, size);
	free(bytes);
	return status;
}

int folded_read(int directory, const char *file, struct folded *to)
{
	int fd = openat(directory, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int status;

	if (fd < 0)
		return -errno;
	status = read_folded(fd, to);
	close(fd);
	return status;
}

/* --- writing --- */

static int print_lines(FILE *stream, const struct folded *from)
{
	for (size_t i = 0; i < from->count; i++)
		if (fprintf(stream, "%s %" PRIu64 "\n", from->line[i].stack, from->line[i].value) <
		    0)
			return -errno;
	if (from->other && fprintf(stream, FOLDED_OTHER " %" PRIu64 "\n", from->other) < 0)
		return -errno;
	return fflush(stream) ? -errno : 0;
}

static int write_temporary(int directory, const struct folded *from, uint64_t *ret_size)
{
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, status;
	struct stat file = { 0 };
	FILE *stream;
	int fd;

	unlinkat(directory, TEMPORARY, 0);
	fd = openat(directory, TEMPORARY, flags, 0640);
	if (fd < 0)
		return -errno;
	stream = fdopen(fd, "w");
	if (!stream) {
		close(fd);
		return -ENOMEM;
	}
	status = print_lines(stream, from);
	if (status == 0 && fstat(fd, &file))
		status = -errno;
	if (fclose(stream) && status == 0)
		status = -errno;
	/* Until writeback, a file system may report 0 blocks. */
	*ret_size = (uint64_t)file.st_blocks * ST_BLOCK;
	if (*ret_size < (uint64_t)file.st_size)
		*ret_size = (uint64_t)file.st_size;
	return status;
}

int folded_write(int directory, const char *file, const struct folded *from, uint64_t *ret_size)
{
	struct stat there;
	uint64_t size = 0;
	int status;

	if (fstatat(directory, file, &there, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(there.st_mode))
		return -EEXIST;
	status = write_temporary(directory, from, &size);
	if (status == 0 && renameat(directory, TEMPORARY, directory, file))
		status = -errno;
	if (status)
		unlinkat(directory, TEMPORARY, 0);
	else
		*ret_size = size;
	return status;
}
