/* SPDX-License-Identifier: MIT */
/*
 * Names of cgroups by their numbers. The number is the kernel's file handle of the directory, so the
 * directory is opened by it and no tree is walked.
 */
#include "cgroup_name.h"

#include "config/cgroup.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MOUNTS "/proc/self/mounts"
#define PATH_ROOM 4096
#define HANDLE_TYPE 0xfe /* FILEID_KERNFS of the kernel */

void cgroup_names_init(struct cgroup_names *names)
{
	*names = (struct cgroup_names){ .lock = PTHREAD_MUTEX_INITIALIZER };
}

static int open_cgroup_root(struct cgroup_names *names)
{
	int path, opened;
	bool is_v1;

	pthread_mutex_lock(&names->lock);
	if (!names->is_open) {
		path = cgroup_open(MOUNTS, NULL, &is_v1);
		/* open_by_handle_at(2) refuses a mount that was opened with O_PATH. */
		names->root = path < 0 ? -1 : openat(path, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		names->is_open = names->root >= 0;
		if (path >= 0)
			close(path);
	}
	opened = names->is_open ? names->root : -1;
	pthread_mutex_unlock(&names->lock);
	return opened;
}

static int open_cgroup_by_id(int mount, uint64_t id)
{
	union {
		struct file_handle handle;
		char bytes[sizeof(struct file_handle) + sizeof(id)];
	} of = { .handle = { .handle_bytes = sizeof(id), .handle_type = HANDLE_TYPE } };

	memcpy(of.handle.f_handle, &id, sizeof(id));
	return open_by_handle_at(mount, &of.handle, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* The path of an open file in the mount namespace of this process. */
static bool read_fd_path(int fd, char path[PATH_ROOM])
{
	char link[32];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, PATH_ROOM - 1);
	path[length > 0 ? length : 0] = '\0';
	return length > 0;
}

static bool write_relative_path(const char *top, const char *path, char *to, size_t size)
{
	size_t length = strlen(top);

	if (strncmp(path, top, length) != 0)
		return false;
	path += length;
	path += strspn(path, "/");
	snprintf(to, size, "%s", path[0] ? path : "root");
	return true;
}

bool cgroup_name(struct cgroup_names *names, uint64_t id, char *to, size_t size)
{
	char top[PATH_ROOM], path[PATH_ROOM];
	int mount = open_cgroup_root(names);
	int fd = mount < 0 ? -1 : open_cgroup_by_id(mount, id);
	bool found = fd >= 0 && read_fd_path(mount, top) && read_fd_path(fd, path) &&
		     write_relative_path(top, path, to, size);

	if (fd >= 0)
		close(fd);
	return found;
}

void cgroup_names_done(struct cgroup_names *names)
{
	if (names->is_open)
		close(names->root);
	names->is_open = false;
}
