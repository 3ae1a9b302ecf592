/* SPDX-License-Identifier: MIT */
#ifndef EBPF_RUNTIME_H
#define EBPF_RUNTIME_H

#include "container.h"
#include "helper/file.h"
#include "named_state.h"

#include "bpf/lib/services/group.h"

/* Is this the id of a container? */
bool runtime_is_id(const char *text);

/* The name of the container with this id, from the state of its runtime on disk, and the file that has it. 0;
 * -ENOENT: no file has it; -EAGAIN: a file could not be read in time. */
int runtime_container(enum group_kind kind, const char *id, struct file_helper *files,
		      struct container *ret_container, struct named_state *ret_state);

#endif
