/* SPDX-License-Identifier: MIT */
/*
 * Programs and libraries that are open to be probed or read. The helper opens them, see file_helper.c.
 */
#ifndef EBPF_SYMBOL_FILE_H
#define EBPF_SYMBOL_FILE_H

#include "file.h"
#include "util/message.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* An open program or library: a regular file, and not on FUSE, where the program that serves it
 * could stop whoever uses it. */
struct symbol_file {
	int fd; /* the caller's; the kernel is given it as /proc/self/fd/N */
	uint64_t device, inode, size;
	uint64_t changed_ns; /* when its content last changed */
	bool is_overlay;     /* device is that of one overlay mount, as of a container */
};

#define SYMBOL_FILE_NONE \
	{                \
		.fd = -1 \
	}

/* Opens a path as the daemon sees it (pid 0), or as process pid sees it: links then stay inside the
 * process's root. path NULL: the program that the process runs. A name without a slash is searched
 * in the directories of libraries (NAME.so.3) or programs. It is fast, and is called again to learn
 * whether the path now leads to another file. Returns 0 or a negative errno, and the error
 * completes "cannot read PATH: ". -ENOENT: there is no file; -ESRCH: there is no such process. */
int symbol_open(struct file_helper *files, const char *path, pid_t pid,
		struct symbol_file *ret_file, struct error *error);

/* The number of the file for struct file_charge. */
uint64_t symbol_number(const struct symbol_file *file);

/* Is it the same file with the same content? Two containers of one image have the same files. */
bool symbol_is_same(const struct symbol_file *one, const struct symbol_file *other);

void symbol_close(struct symbol_file *file);

#endif
