/* SPDX-License-Identifier: MIT */
/*
 * Paths that must not lead out of a directory. At ".." the kernel refuses to say whether one does while
 * anybody renames or mounts anything at all (EAGAIN), so any user can make such an open fail, often. Tried
 * again, it succeeds.
 */
#include "scoped_open.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

int scoped_open(int directory, const char *path, uint64_t flags, uint64_t resolve)
{
	const struct open_how how = { .flags = flags, .resolve = resolve };

	for (int i = 0; i < SCOPED_OPEN_TRIES; i++) {
		long fd = syscall(SYS_openat2, directory, path, &how, sizeof(how));

		if (fd >= 0)
			return (int)fd;
		if (errno != EAGAIN)
			return -errno;
	}
	return -EAGAIN;
}
