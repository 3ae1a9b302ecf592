/* SPDX-License-Identifier: MIT */
#ifndef EBPF_KERNEL_FILE_H
#define EBPF_KERNEL_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Files of /proc and /sys, whose content the kernel makes at each read. */

/* Reads a whole regular file. Returns its size; -EFBIG: it has `size` bytes or more; -EINVAL: it is
 * not regular. Never blocks. */
ssize_t kernel_file_read(const char *path, char *text, size_t size);

/* The highest number in a list of CPUs as in /sys ("0-3,7"), plus one; 0: it is no list. */
uint32_t kernel_file_cpus_end(const char *list, size_t length);

/* The bytes of memory that a BPF map uses, by its /proc/PID/fdinfo/FD; 0: the file does not say. */
uint64_t kernel_file_memlock(const char *info, size_t length);

#endif
