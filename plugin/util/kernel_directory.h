/* SPDX-License-Identifier: MIT */
#ifndef EBPF_KERNEL_DIRECTORY_H
#define EBPF_KERNEL_DIRECTORY_H

/* Files of the kernel's own file systems, opened below a directory by names that others give. */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A file system of the kernel's. */
enum kernel_fs { KERNEL_FS_PROC, KERNEL_FS_SYS, KERNEL_FS_CGROUP, KERNEL_FS_CGROUP1 };

/* Opens a directory to open files below. -ENODEV: the path is not in this file system; or an errno
 * of open(2). */
int kernel_directory_open(enum kernel_fs root, const char *path);

/* Opens a directory below another, for readdir(3). */
int kernel_directory_open_subdirectory(int root, const char *path);

/* Opens, for kernel_text_read(), a regular file that everybody may read, below a directory and in its
 * file system. Links do not lead out, nor to a process's descriptors. ret_inode tells a file from a
 * later one with its name. -EXDEV: it is outside, or in another file system; -EPERM: not everybody
 * may read it; -EINVAL: it is not regular; or an error of scoped_open(). */
int kernel_directory_open_file(int root, const char *path, uint64_t *ret_inode);

/* A buffer that grows with the files that are read into it. */
struct kernel_text {
	char *bytes;
	size_t room;
};

/* Reads a file from its start. Returns its size; -EFBIG: it has more than `most` bytes; or an errno
 * of read(2): -ENODEV: the file was removed; -EAGAIN: the read would block. */
ssize_t kernel_text_read(int fd, struct kernel_text *text, size_t most);

void kernel_text_done(struct kernel_text *text);

#endif
