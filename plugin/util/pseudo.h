/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PSEUDO_H
#define EBPF_PSEUDO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Files that the kernel makes up at each read: /proc and /sys. */

/* Reads all of a regular file; how many bytes it has. -EFBIG: it has size bytes or more, -EINVAL:
 * it is no regular file. Waits for nobody. */
ssize_t pseudo_read(const char *path, char *text, size_t size);

/* Of a list of CPUs as /sys has it (0-3,7): the highest number and one; 0 if it is no list. */
uint32_t pseudo_cpus_end(const char *list, size_t length);

/* Of a BPF map's /proc/PID/fdinfo/FD: the bytes of memory that the map takes; 0 if it does
 * not say. */
uint64_t pseudo_memlock(const char *info, size_t length);

#endif
