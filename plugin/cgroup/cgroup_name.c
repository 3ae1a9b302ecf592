/* SPDX-License-Identifier: MIT */
/*
 * Names of cgroups by their numbers: the number is the file handle that the kernel has of the directory,
 * so no tree has to be walked.
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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int root = -1; /* of cgroup2 */

static int open_root(void)
{
	int path, opened;
	bool is_v1;

	pthread_mutex_lock(&lock);
	if (root < 0) {
		path = cgroup_open(MOUNTS, NULL, &is_v1);
		/* The kernel takes no handle below one that is a path alone. */
		root = path < 0 ? -1 : openat(path, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (path >= 0)
			close(path);
	}
	opened = root;
	pthread_mutex_unlock(&lock);
	return opened;
}

static int open_cgroup(int mount, uint64_t id)
{
	union {
		struct file_handle handle;
		char bytes[sizeof(struct file_handle) + sizeof(id)];
	} of = { .handle = { .handle_bytes = sizeof(id), .handle_type = HANDLE_TYPE } };

	memcpy(of.handle.f_handle, &id, sizeof(id));
	return open_by_handle_at(mount, &of.handle, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Where a descriptor is, as this process sees it. */
static bool path_of(int fd, char path[PATH_ROOM])
{
	char link[32];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, PATH_ROOM - 1);
	path[length > 0 ? length : 0] = '\0';
	return length > 0;
}

static bool name_below(const char *top, const char *path, char *to, size_t size)
{
	size_t length = strlen(top);

	if (strncmp(path, top, length) != 0)
		return false;
	path += length;
	path += strspn(path, "/");
	snprintf(to, size, "%s", path[0] ? path : "root");
	return true;
}

bool cgroup_name(uint64_t id, char *to, size_t size)
{
	char top[PATH_ROOM], path[PATH_ROOM];
	int mount = open_root();
	int fd = mount < 0 ? -1 : open_cgroup(mount, id);
	bool found = fd >= 0 && path_of(mount, top) && path_of(fd, path) &&
		     name_below(top, path, to, size);

	if (fd >= 0)
		close(fd);
	return found;
}

void cgroup_names_done(void)
{
	if (root >= 0)
		close(root);
	root = -1;
}
