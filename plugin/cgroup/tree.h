/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TREE_H
#define EBPF_TREE_H

#include "bpf/lib/group.h"

#include <stdint.h>

#define TREE_DIRECTORIES_MAX 4096 /* that are opened in one walk */
#define TREE_PATH_MAX 2048        /* bytes, with the NUL; what is longer is left out */

/* Takes the cgroup that a key begins at; the path is below the root. A negative errno ends the
 * walk. */
typedef int tree_taker(void *to, const char *path, uint64_t inode, const struct group_key *key);

/* Finds the cgroups of units, users and containers below the root of a hierarchy. What is below
 * one of these is not looked at, as the kernel's side does not: it may be anybody's. -E2BIG:
 * there are more directories, and the others are left out; or what open(2) or `take` says. */
int tree_walk(int root, tree_taker *take, void *to);

#endif
