/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CGROUP_H
#define EBPF_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

/* Makes a path relative to the root of its hierarchy: names with a slash between them. The text may start with a
 * mount of cgroup2, or of the v1 hierarchy of the pids or the memory controller, by the mount table (as
 * /proc/self/mounts). false: `why` says what is wrong. ret_path has room for the text. */
bool cgroup_path(const char *text, const char *mounts, char *ret_path, char *why, size_t size);

/* Opens the root of the hierarchy of a controller, by the mount table: its own (v1), else that of cgroup2. NULL: that
 * of cgroup2. Errors of kernel_directory_open(); -ENODEV: neither is mounted. */
int cgroup_open(const char *mounts, const char *controller, bool *ret_is_v1);

#endif
