/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CGROUP_H
#define EBPF_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

/* The path of a cgroup below the root of the cgroup2 hierarchy, its names with a slash between
 * them, of one that may begin where the mount table (as /proc/self/mounts) has that hierarchy. On
 * false `why` says what is wrong. ret_path has room for the text. */
bool cgroup_path(const char *text, const char *mounts, char *ret_path, char *why, size_t size);

#endif
