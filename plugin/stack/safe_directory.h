/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SAFE_DIRECTORY_H
#define EBPF_SAFE_DIRECTORY_H

#include "util/message.h"

/* Opens a directory that nobody else can put anything into or in the place of: it, each one on the way
 * to it, and links there are root's or our own, and others cannot write to them; to a directory on the
 * way, as /tmp, they can if it is sticky. Makes it where the one above is there. ret_fd is the caller's.
 * Errors of mkdirat(2) and openat(2); -ENOTDIR; -EPERM: it is not so. */
int safe_directory_open(const char *path, int *ret_fd, struct error *error);

#endif
