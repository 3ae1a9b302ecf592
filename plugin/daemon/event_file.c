/* SPDX-License-Identifier: MIT */
/*
 * The file of events. It is opened for each write: events are rare, and so it may be moved away or removed at any
 * time. Others must not be able to lead root to another file.
 */
#include "event_file.h"

#include "stack/safe_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_directory_of(const char *path, const char *name, struct error *error)
{
	char *directory = strndup(path, (size_t)(name - path));
	int fd = -ENOMEM, status;

	if (!directory)
		return error_set(error, -ENOMEM, "no memory");
	status = safe_directory_open(directory, &fd, error);
	free(directory);
	return status ?: fd;
}

static int open_event_file(int directory, const char *name, struct stat *ret_file,
			   struct error *error)
{
	int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int fd = openat(directory, name, flags, 0640), status;

	if (fd < 0 && errno != ELOOP && errno != EISDIR && errno != ENXIO)
		return error_set(error, -errno, "%s", strerror(errno));
	if (fd < 0)
		return error_set(error, -EEXIST, "something else has this name; remove it");
	if (fstat(fd, ret_file))
		status = error_set(error, -errno, "%s", strerror(errno));
	else if (!S_ISREG(ret_file->st_mode) || ret_file->st_nlink > 1)
		status = error_set(error, -EEXIST, "it is not a file of its own; remove it");
	else if (ret_file->st_uid != geteuid())
		status = error_set(error, -EPERM,
				   "it belongs to user %u, who could change it; remove it",
				   (unsigned)ret_file->st_uid);
	else
		return fd;
	close(fd);
	return status;
}

/* A part of a line would spoil the next one, too. */
static int write_whole(int fd, const char *lines, size_t length, off_t size, struct error *error)
{
	ssize_t written = length ? write(fd, lines, length) : 0;
	int status = written < 0 ? -errno : -ENOSPC;

	if (written == (ssize_t)length)
		return 0;
	if (written > 0 && ftruncate(fd, size))
		status = -errno;
	return error_set(error, status, "%s", strerror(-status));
}

static int rotate(int directory, const char *name, struct error *error)
{
	char before[NAME_MAX + 3];

	snprintf(before, sizeof(before), "%s.1", name);
	if (renameat(directory, name, directory, before) == 0)
		return 0;
	return error_set(error, -errno, "it is full and cannot become %s: %s; remove that", before,
			 strerror(errno));
}

static int append_in(int directory, const char *name, const char *lines, size_t length,
		     struct error *error)
{
	struct stat file;
	int fd = open_event_file(directory, name, &file, error), status = 0;

	if (fd >= 0 && file.st_size && (size_t)file.st_size + length > EVENT_FILE_SIZE_MAX) {
		close(fd);
		status = rotate(directory, name, error);
		fd = status ?: open_event_file(directory, name, &file, error);
	}
	if (fd < 0)
		return fd;
	status = write_whole(fd, lines, length, file.st_size, error);
	close(fd);
	return status;
}

int event_file_append(const char *path, const char *lines, size_t length, struct error *error)
{
	const char *name = strrchr(path, '/') + 1;
	int directory = open_directory_of(path, name, error), status;

	if (directory < 0)
		return directory;
	status = append_in(directory, name, lines, length, error);
	close(directory);
	return status;
}
