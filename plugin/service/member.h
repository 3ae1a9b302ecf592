/* SPDX-License-Identifier: MIT */
#ifndef EBPF_MEMBER_H
#define EBPF_MEMBER_H

#include "attach/attachment.h"
#include "resolve.h"

#include <stddef.h>
#include <sys/types.h>

/* The processes of a service that has a block of this name, of the `resolver`, whose lock is held. At
 * most `size` are written; returns how many there are, -ENOENT: there is no such block, or what the
 * kernel says. */
ssize_t members_list(void *resolver, const char *service, pid_t *ret_pids, size_t size);

/* For programs that are attached to files of services, with the lock of the resolver. */
struct file_finder members_finder(struct resolver *resolver);

#endif
