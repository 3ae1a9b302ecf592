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

/* Where the mount table (as /proc/self/mounts) has the cgroup2 hierarchy. false: nowhere, or ret_point
 * has no room for that. */
bool cgroup_mount(const char *mounts, char *ret_point, size_t size);

#endif
