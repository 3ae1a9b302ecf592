/* SPDX-License-Identifier: MIT */
/*
 * Opens paths that must not lead out of a directory. At ".." openat2(2) returns EAGAIN if anything
 * is renamed or mounted anywhere at that time, since the kernel cannot tell then whether the path
 * leads out. Any user can cause that often, so the open is tried again.
 */
#include "scoped_open.h"

#include "lock.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

int scoped_open(int directory, const char *path, uint64_t flags, uint64_t resolve)
{
	const struct open_how how = { .flags = flags, .resolve = resolve };

	lock_assert_none(path);
	for (int i = 0; i < SCOPED_OPEN_TRIES; i++) {
		long fd = syscall(SYS_openat2, directory, path, &how, sizeof(how));

		if (fd >= 0)
			return (int)fd;
		if (errno != EAGAIN)
			return -errno;
	}
	return -EAGAIN;
}
