/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Open files.
 */
#ifndef KERNEL_FILE_BPF_H
#define KERNEL_FILE_BPF_H

#include "kernel.bpf.h"

#define S_IFMT 0170000
#define S_IFSOCK 0140000

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
};

struct file {
	struct inode *f_inode;
	void *private_data;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

#pragma clang attribute pop

#endif
