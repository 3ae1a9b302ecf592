/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TREE_H
#define EBPF_TREE_H

#include "bpf/lib/services/group.h"

#include <stdint.h>

#define TREE_DIRECTORIES_MAX 4096 /* opened in one walk, without those below slices of users */
#define TREE_USER_NAMES_MAX 1024  /* below the slice of one user; others are left out */
#define TREE_PATH_MAX 2048        /* bytes, with the NUL; longer paths are left out */

/* Gets each cgroup that starts a unit, a user or a container; the path is relative to the root. A negative
 * errno ends the walk. */
typedef int tree_visitor(void *to, const char *path, uint64_t inode, const struct group_key *key);

/* Finds the cgroups of units, users and containers below the root of a hierarchy. Directories below one of
 * these are not inspected, as in the kernel, except for containers of users. -E2BIG: there are more directories, and the
 * others are left out; or an error of open(2) or `visit`. */
int tree_walk(int root, tree_visitor *visit, void *to);

#endif
