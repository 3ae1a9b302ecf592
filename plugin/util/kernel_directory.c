/* SPDX-License-Identifier: MIT */
/*
 * Files of /proc, /sys and cgroups that others have named. The name may be of anything, so no path
 * leads out of the file system, and only files that everybody on the machine may read are opened.
 * That excludes files whose read takes data from others (kmsg) or never ends.
 */
#include "kernel_directory.h"

#include "lock.h"
#include "scoped_open.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define ROOM_FIRST 8192

static const long magics[] = {
	[KERNEL_FS_PROC] = PROC_SUPER_MAGIC,
	[KERNEL_FS_SYS] = SYSFS_MAGIC,
	[KERNEL_FS_CGROUP] = CGROUP2_SUPER_MAGIC,
	[KERNEL_FS_CGROUP1] = CGROUP_SUPER_MAGIC,
};

int kernel_directory_open(enum kernel_fs root, const char *path)
{
	struct statfs system;
	int fd;

	lock_assert_none(path);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &system) == 0 && (long)system.f_type == magics[root])
		return fd;
	close(fd);
	return -ENODEV;
}

static int open_below(int root, const char *path, int flags)
{
	return scoped_open(root, path,
			   (unsigned)(O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags),
			   RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS);
}

int kernel_directory_open_subdirectory(int root, const char *path)
{
	return open_below(root, *path ? path : ".", O_DIRECTORY);
}

int kernel_directory_open_file(int root, const char *path, uint64_t *ret_inode)
{
	int fd = open_below(root, path, 0), status = 0;
	struct stat file;

	if (fd < 0)
		return fd;
	if (fstat(fd, &file) != 0)
		status = -errno;
	else if (!S_ISREG(file.st_mode))
		status = -EINVAL;
	else if (!(file.st_mode & S_IROTH))
		status = -EPERM;
	if (status) {
		close(fd);
		return status;
	}
	*ret_inode = file.st_ino;
	return fd;
}

static int grow_text(struct kernel_text *text, size_t most)
{
	size_t room = text->room ? 2 * text->room : ROOM_FIRST;
	char *grown;

	if (room > most)
		room = most + 1;
	grown = realloc(text->bytes, room);
	if (!grown)
		return -ENOMEM;
	text->bytes = grown;
	text->room = room;
	return 0;
}

ssize_t kernel_text_read(int fd, struct kernel_text *text, size_t most)
{
	size_t length = 0;

	for (;;) {
		ssize_t got;
		int status = 0;

		if (length > most)
			return -EFBIG;
		if (length == text->room)
			status = grow_text(text, most);
		if (status)
			return status;
		got = pread(fd, text->bytes + length, text->room - length, (off_t)length);
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got == 0)
			return (ssize_t)length;
		length += got > 0 ? (size_t)got : 0;
	}
}

void kernel_text_done(struct kernel_text *text)
{
	free(text->bytes);
	*text = (struct kernel_text){ 0 };
}
