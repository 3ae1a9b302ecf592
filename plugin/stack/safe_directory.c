/* SPDX-License-Identifier: MIT */
/*
 * Opens a directory for files that root writes and others may want to redirect.
 */
#include "safe_directory.h"

#include "util/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A path that is walked, directory by directory. */
struct path_walk {
	const char *path;
	char name[NAME_MAX + 1]; /* of the directory that is checked now */
	int length;              /* of the path up to the end of name */
	bool is_last;
};

static bool is_trusted(uid_t user)
{
	return user == 0 || user == geteuid();
}

/* Moves on to the next name on the path; false: there is none. */
static bool next_name(struct path_walk *walk, const char **remaining)
{
	size_t length;

	*remaining += strspn(*remaining, "/");
	length = strcspn(*remaining, "/");
	if (length == 0 || length > NAME_MAX)
		return false;
	memcpy(walk->name, *remaining, length);
	walk->name[length] = '\0';
	*remaining += length;
	walk->length = (int)(*remaining - walk->path);
	walk->is_last = !(*remaining)[strspn(*remaining, "/")];
	return true;
}

static int refuse_directory(const struct path_walk *walk, uid_t owner, struct error *error)
{
	if (!is_trusted(owner))
		return error_set(error, -EPERM,
				 "%.*s belongs to user %u, who could replace what is in it; choose "
				 "a directory in which only root can",
				 walk->length, walk->path, (unsigned)owner);
	return error_set(
		error, -EPERM,
		"users other than its owner can write to %.*s; take that right from them (chmod "
		"go-w), or choose another directory",
		walk->length, walk->path);
}

static bool is_open_to_others(const struct stat *directory, bool is_last)
{
	if (directory->st_mode & S_ISVTX && !is_last)
		return false;
	return directory->st_mode & S_IWOTH ||
	       (directory->st_mode & S_IWGRP && directory->st_gid != 0);
}

static int open_or_make(const struct path_walk *walk, int at)
{
	int flags = O_DIRECTORY | O_CLOEXEC | (walk->is_last ? O_RDONLY : O_PATH);
	int fd = openat(at, walk->name, flags);

	if (fd < 0 && errno == ENOENT && walk->is_last && mkdirat(at, walk->name, 0750) == 0)
		fd = openat(at, walk->name, flags);
	return fd < 0 ? -errno : fd;
}

/* Opens the next directory below `at`, which is closed. Returns a descriptor or a negative
 * errno. */
static int open_next(const struct path_walk *walk, int at, struct error *error)
{
	struct stat link, directory;
	int fd = -EPERM, refused = 0;

	if (fstatat(at, walk->name, &link, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(link.st_mode) &&
	    !is_trusted(link.st_uid))
		refused = refuse_directory(walk, link.st_uid, error);
	else
		fd = open_or_make(walk, at);
	close(at);
	if (refused)
		return refused;
	if (fd < 0)
		return error_set(error, fd, "%.*s: %s", walk->length, walk->path, strerror(-fd));
	if (fstat(fd, &directory))
		refused = error_set(error, -errno, "%.*s: %s", walk->length, walk->path,
				    strerror(errno));
	else if (!is_trusted(directory.st_uid) || is_open_to_others(&directory, walk->is_last))
		refused = refuse_directory(walk, directory.st_uid, error);
	if (refused)
		close(fd);
	return refused ?: fd;
}

int safe_directory_open(const char *path, int *ret_fd, struct error *error)
{
	struct path_walk walk = { .path = path };
	const char *remaining = path;
	int fd;

	lock_assert_none(path);
	fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_set(error, -errno, "/: %s", strerror(errno));
	while (fd >= 0 && next_name(&walk, &remaining))
		fd = open_next(&walk, fd, error);
	if (fd < 0)
		return fd;
	if (!walk.is_last || remaining[strspn(remaining, "/")]) {
		close(fd);
		return error_set(error, -ENOTDIR, "%.900s: it is not a directory for files", path);
	}
	*ret_fd = fd;
	return 0;
}
