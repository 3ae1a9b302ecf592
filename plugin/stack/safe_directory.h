/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SAFE_DIRECTORY_H
#define EBPF_SAFE_DIRECTORY_H

/* A directory into which root may write without being misled. */

#include "util/message.h"

/* Opens a directory that nobody else can write to or replace. It, every directory on its path, and
 * every link on it must belong to root or to us, and others must not be able to write to them; a
 * directory above it, such as /tmp, may be writable if it is sticky. Makes the directory if the one
 * above exists. ret_fd is the caller's. Errors of mkdirat(2) and openat(2); -ENOTDIR; -EPERM: the
 * path is not safe. */
int safe_directory_open(const char *path, int *ret_fd, struct error *error);

#endif
