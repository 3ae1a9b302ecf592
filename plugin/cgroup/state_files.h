/* SPDX-License-Identifier: MIT */
#ifndef EBPF_STATE_FILES_H
#define EBPF_STATE_FILES_H

#include "helper/file.h"
#include "state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define STATE_FILES_MAX 256
#define STATE_PATH_MAX 512 /* of a directory or file, with the NUL */

/* A file in which a runtime names its containers: BEFORE ID AFTER for each, or, if AFTER is NULL, one file BEFORE for
 * all of them. */
struct state_file {
	unsigned kinds; /* of containers: bits 1 << GROUP_DOCKER and so on */
	enum state_format format;
	char *before;
	const char *after;
	struct file_view {
		pid_t pid;         /* a process of root that sees the file, 0: the daemon does */
		bool of_any_owner; /* the configuration names it; others must be root's */
	} view;
};

/* Where the runtimes of this machine keep their state. Of one thread. */
struct state_files {
	struct state_file *file;
	size_t count;
};

/* Adds what a directory has: docker's data-root, the graphroot or runroot of podman or CRI-O, containerd's state
 * directory or its directory of tasks. Returns how many it may have, also those that were known; or an error of
 * state_file_read(). */
int state_files_add(struct state_files *state, struct file_helper *files, const char *path,
		    struct file_view view);

/* Is this, in a directory of podman, CRI-O or containerd, the name of the directory that has its containers? */
bool state_files_are_below(const char *name);

/* Reads a file or directory as the view has it; request->pid is set. -EPERM: it is not root's, or others may write to
 * it; -ESRCH: the process of the view has exited; or an error of file_read(). */
int state_file_read(struct file_helper *files, struct file_request *request, struct file_view view,
		    struct file *ret_file);

void state_files_done(struct state_files *state);

#endif
