/* SPDX-License-Identifier: MIT */
#ifndef EBPF_NAMED_STATE_H
#define EBPF_NAMED_STATE_H

#include "container.h"
#include "helper/file.h"
#include "state.h"
#include "state_files.h"

#define NAMED_STATE_PATH_MAX \
	(STATE_PATH_MAX + 128) /* with the NUL: also an id and the name of a file */

/* A file that names containers. Each function returns an error of state_file_read(), or -EPERM: it is another user's
 * than the request says. */
struct named_state {
	char path[NAMED_STATE_PATH_MAX];
	enum state_format format; /* STATE_STORAGE: a list of such entries */
	struct file_view view;
	struct file_request request; /* `unless`: as it was read last */
};

/* Visits the containers that it names, if it has changed since it was read; -EALREADY: it has not. */
int named_state_check(struct named_state *state, struct file_helper *files, state_visitor *visit,
		      void *of);

/* The container with this id; -ENOENT: it is not there. */
int named_state_find(struct named_state *state, struct file_helper *files, const char *id,
		     struct container *ret_container);

/* Takes the labels of a container's pod from the state of its sandbox. */
int named_state_labels(struct named_state *state, struct file_helper *files,
		       struct container *container);

#endif
