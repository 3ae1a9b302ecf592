/* SPDX-License-Identifier: MIT */
/*
 * Where files are written as root that others may have something to gain from.
 */
#include "safe_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A way that is walked, directory by directory. */
struct way {
	const char *path;
	char name[NAME_MAX + 1]; /* of the one that is looked at */
	int length;              /* of the path up to its end */
	bool is_last;
};

static bool is_trusted(uid_t user)
{
	return user == 0 || user == geteuid();
}

/* The next name on the way; false: there is none. */
static bool next_name(struct way *way, const char **rest)
{
	size_t length;

	*rest += strspn(*rest, "/");
	length = strcspn(*rest, "/");
	if (length == 0 || length > NAME_MAX)
		return false;
	memcpy(way->name, *rest, length);
	way->name[length] = '\0';
	*rest += length;
	way->length = (int)(*rest - way->path);
	way->is_last = !(*rest)[strspn(*rest, "/")];
	return true;
}

static int refuse(const struct way *way, uid_t owner, struct error *error)
{
	if (!is_trusted(owner))
		return error_set(error, -EPERM,
				 "%.*s belongs to user %u, who could replace what is in it; choose "
				 "a directory in which only root can",
				 way->length, way->path, (unsigned)owner);
	return error_set(
		error, -EPERM,
		"others than its owner can write to %.*s; take that from them (chmod go-w), "
		"or choose another directory",
		way->length, way->path);
}

static bool is_open_to_others(const struct stat *directory, bool is_last)
{
	if (directory->st_mode & S_ISVTX && !is_last)
		return false;
	return directory->st_mode & S_IWOTH ||
	       (directory->st_mode & S_IWGRP && directory->st_gid != 0);
}

static int open_there(const struct way *way, int at)
{
	int flags = O_DIRECTORY | O_CLOEXEC | (way->is_last ? O_RDONLY : O_PATH);
	int fd = openat(at, way->name, flags);

	if (fd < 0 && errno == ENOENT && way->is_last && mkdirat(at, way->name, 0750) == 0)
		fd = openat(at, way->name, flags);
	return fd < 0 ? -errno : fd;
}

/* From one directory, which is closed, to the next: its descriptor or an error. */
static int step(const struct way *way, int at, struct error *error)
{
	struct stat link, directory;
	int fd = -EPERM, refused = 0;

	if (fstatat(at, way->name, &link, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(link.st_mode) &&
	    !is_trusted(link.st_uid))
		refused = refuse(way, link.st_uid, error);
	else
		fd = open_there(way, at);
	close(at);
	if (refused)
		return refused;
	if (fd < 0)
		return error_set(error, fd, "%.*s: %s", way->length, way->path, strerror(-fd));
	if (fstat(fd, &directory))
		refused = error_set(error, -errno, "%.*s: %s", way->length, way->path,
				    strerror(errno));
	else if (!is_trusted(directory.st_uid) || is_open_to_others(&directory, way->is_last))
		refused = refuse(way, directory.st_uid, error);
	if (refused)
		close(fd);
	return refused ?: fd;
}

int safe_directory_open(const char *path, int *ret_fd, struct error *error)
{
	struct way way = { .path = path };
	const char *rest = path;
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return error_set(error, -errno, "/: %s", strerror(errno));
	while (fd >= 0 && next_name(&way, &rest))
		fd = step(&way, fd, error);
	if (fd < 0)
		return fd;
	if (!way.is_last || rest[strspn(rest, "/")]) {
		close(fd);
		return error_set(error, -ENOTDIR, "%.900s: it is no directory for files", path);
	}
	*ret_fd = fd;
	return 0;
}
