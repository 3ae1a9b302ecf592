/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CONTAINER_NAMES_H
#define EBPF_CONTAINER_NAMES_H

#include "container.h"
#include "helper/file.h"
#include "runtime.h"

#include "bpf/lib/services/group.h"

#include <stddef.h>
#include <stdint.h>

#define CONTAINER_NAMES_MAX 4096

struct container_name;
struct users;

/* The names of containers by their ids. Runtimes rename containers while they run, so the files that name them
 * are checked again. Of one thread. */
struct container_names {
	struct users *users;
	struct runtimes runtimes;
	struct container_name **item; /* by id and key */
	size_t count;
	size_t of_users; /* of these, containers of users */
	size_t next;     /* to be checked */
	uint64_t checks; /* of all, so far */
	uint32_t
		round; /* changes with any name, and once a minute: then all names are asked for again */
	uint64_t round_ns;    /* when it began */
	size_t checked_files; /* by the last check */
	uint64_t due_ns;      /* of the next one */
};

/* users stay the caller's. */
void container_names_init(struct container_names *names, struct users *users);

/* The container with the id in this key, which may be a user's. A file is read only if it was not asked for
 * before. 0; -ENOENT: no file has it; -EAGAIN: a file could not be read in time, and the round changes when it
 * is known. */
int container_name(struct container_names *names, const struct group_key *key,
		   struct file_helper *files, struct container *ret_container);

/* If it is due, finds the names that have changed or were not found before. Forgets those that were not asked
 * for in the last rounds. Takes 250 ms at most, plus the reading of one file. */
void container_names_refresh(struct container_names *names, struct file_helper *files);

void container_names_done(struct container_names *names);

#endif
