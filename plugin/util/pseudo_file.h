/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PSEUDO_FILE_H
#define EBPF_PSEUDO_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* File systems whose files the kernel makes up, of which others may name one to be read. */
enum pseudo_root { PSEUDO_PROC, PSEUDO_SYS, PSEUDO_CGROUP, PSEUDO_CGROUP1 };

/* A directory to open files below. -ENODEV: at this path is no such file system; or what open(2)
 * says. */
int pseudo_root_open(enum pseudo_root root, const char *path);

/* Opens a directory below a root, for readdir(3). */
int pseudo_open_directory(int root, const char *path);

/* Opens a regular file that everybody may read, below a root and in its file system, for
 * pseudo_read_at(); ret_inode: another one of this name has another. No link leads out, none is of a
 * process's descriptors. -EXDEV: it is of another file system, or outside; -EPERM: not all may read it;
 * -EINVAL: it is no regular file; or what scoped_open() says. */
int pseudo_open(int root, const char *path, uint64_t *ret_inode);

/* A buffer that grows as files need it. */
struct pseudo_text {
	char *bytes;
	size_t room;
};

/* Reads all of a file from its begin, how many bytes it has; -EFBIG: more than most, or what read(2)
 * says: -ENODEV of one that is gone, -EAGAIN of one that would wait. */
ssize_t pseudo_read_at(int fd, struct pseudo_text *text, size_t most);

void pseudo_text_done(struct pseudo_text *text);

#endif
