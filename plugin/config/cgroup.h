/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CGROUP_H
#define EBPF_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

/* The path of a cgroup below the root of its hierarchy, its names with a slash between
 * them, of one that may begin where the mount table (as /proc/self/mounts) has cgroup2, or a hierarchy of
 * the pids or the memory controller. On
 * false `why` says what is wrong. ret_path has room for the text. */
bool cgroup_path(const char *text, const char *mounts, char *ret_path, char *why, size_t size);

/* Opens the root of the hierarchy in which a controller is, by the mount table: one of its own (v1), or
 * that of cgroup2, which is also meant by NULL. Errors of pseudo_root_open(); -ENODEV: neither is
 * mounted. */
int cgroup_open(const char *mounts, const char *controller, bool *ret_is_v1);

#endif
