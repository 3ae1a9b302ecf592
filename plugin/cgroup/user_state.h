/* SPDX-License-Identifier: MIT */
#ifndef EBPF_USER_STATE_H
#define EBPF_USER_STATE_H

#include "container.h"
#include "helper/file.h"
#include "named_state.h"

#include <sys/types.h>

/* The name of a user's container with this id, from the state of rootless podman, docker or containerd. Files
 * that are not the user's are ignored. home: an absolute path. 0, also the file that has it; -ENOENT: no file
 * has it; -EAGAIN: a file could not be read in time. */
int user_container(uid_t uid, const char *home, const char *id, struct file_helper *files,
		   struct container *ret_container, struct named_state *ret_state);

#endif
