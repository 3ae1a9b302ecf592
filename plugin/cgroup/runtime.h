/* SPDX-License-Identifier: MIT */
#ifndef EBPF_RUNTIME_H
#define EBPF_RUNTIME_H

#include "container.h"
#include "helper/file.h"
#include "state.h"

#include "bpf/lib/services/group.h"

#define STATE_PATH_MAX 512 /* with the NUL */

/* Is this the id of a container? */
bool runtime_is_id(const char *text);

/* A file that names containers. */
struct state_file {
	char path[STATE_PATH_MAX];
	enum state_format format;
	struct file_request request; /* its path is not set; `unless`: as it was read */
};

/* The name of the container with this id, from the state of its runtime on disk, and the file that has it. 0;
 * -ENOENT: no file has it; -EAGAIN: a file could not be read in time. */
int runtime_container(enum group_kind kind, const char *id, struct file_helper *files,
		      struct container *ret_container, struct state_file *ret_state);

/* Reads the file, again if `unless` is set. Errors of file_read(); -EALREADY: it has not changed; -EPERM: it is another
 * user's than the request says. */
int state_file_read(const struct state_file *state, struct file_helper *files,
		    struct file *ret_file);

#endif
