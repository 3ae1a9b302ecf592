/* SPDX-License-Identifier: MIT */
#ifndef EBPF_RUNTIME_H
#define EBPF_RUNTIME_H

#include "container.h"
#include "helper/file.h"

#include "bpf/lib/group.h"

/* Is this a container's id? */
bool runtime_is_id(const char *text);

/* What its runtime calls the container with an id, by the state that it keeps on disk. 0; -ENOENT:
 * none of the files says; -EAGAIN: one of them does not answer. */
int runtime_container(enum group_kind kind, const char *id, struct file_reader *files,
		      struct container *ret_container);

#endif
