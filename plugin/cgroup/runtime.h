/* SPDX-License-Identifier: MIT */
#ifndef EBPF_RUNTIME_H
#define EBPF_RUNTIME_H

#include "config/string_list.h"
#include "container.h"
#include "helper/file.h"
#include "named_state.h"
#include "state_files.h"
#include "util/clock.h"

#include "bpf/lib/services/group.h"

#include <stddef.h>
#include <stdint.h>

/* Where names of containers are read from. Of one thread. */
struct runtimes {
	const struct strings *configured; /* values of ContainerState, NULL: none */
	struct state_files state;
	uint64_t
		paid_ns; /* the time by which the searches so far have taken no more than their share */
};

void runtimes_init(struct runtimes *runtimes);

/* Also has names read from these directories, values of ContainerState; they stay the caller's. What is wrong with one is
 * logged. */
void runtimes_start(struct runtimes *runtimes, const struct strings *configured,
		    struct file_helper *files);

/* Is this the id of a container? */
bool runtime_is_id(const char *text);

/* The name of the container with this id, from the state of its runtime on disk, and the file that has it. If no known
 * file has it, state is searched for, in 1 % of the time at most: in the directories of ContainerState, in default ones,
 * and in those that the runtimes' configuration files and processes name. 0; -ENOENT: no file has it; -EAGAIN: a file
 * could not be read in time, or the next search may find it. Waits 200 ms at most for a file that does not answer, 2 s
 * for a list. */
int runtime_container(enum group_kind kind, const char *id, struct runtimes *runtimes,
		      struct file_helper *files, struct container *ret_container,
		      struct named_state *ret_state);

/* Writes the directories of the state, for a message; "" if there are none. */
void runtimes_text(const struct runtimes *runtimes, char *to, size_t size);

void runtimes_done(struct runtimes *runtimes);

#endif
