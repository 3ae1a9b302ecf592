/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PSEUDO_FILE_H
#define EBPF_PSEUDO_FILE_H

/* Files of the kernel's own file systems, opened below a directory by names that others give. */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A file system of the kernel's. */
enum pseudo_root { PSEUDO_PROC, PSEUDO_SYS, PSEUDO_CGROUP, PSEUDO_CGROUP1 };

/* Opens a directory to open files below. -ENODEV: the path is not in this file system; or an errno
 * of open(2). */
int pseudo_root_open(enum pseudo_root root, const char *path);

/* Opens a directory below another, for readdir(3). */
int pseudo_open_directory(int root, const char *path);

/* Opens, for pseudo_read_at(), a regular file that everybody may read, below a directory and in its
 * file system. Links do not lead out, nor to a process's descriptors. ret_inode tells a file from a
 * later one with its name. -EXDEV: it is outside, or in another file system; -EPERM: not everybody
 * may read it; -EINVAL: it is not regular; or an error of scoped_open(). */
int pseudo_open(int root, const char *path, uint64_t *ret_inode);

/* A buffer that grows with the files that are read into it. */
struct pseudo_text {
	char *bytes;
	size_t room;
};

/* Reads a file from its start. Returns its size; -EFBIG: it has more than `most` bytes; or an errno
 * of read(2): -ENODEV: the file was removed; -EAGAIN: the read would block. */
ssize_t pseudo_read_at(int fd, struct pseudo_text *text, size_t most);

void pseudo_text_done(struct pseudo_text *text);

#endif
