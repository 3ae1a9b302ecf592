/* SPDX-License-Identifier: MIT */
#ifndef EBPF_DESCRIPTION_H
#define EBPF_DESCRIPTION_H

#include "config/name.h"
#include "container.h"
#include "helper/file.h"
#include "user.h"

#include "bpf/lib/group.h"

/* How the operator calls what a key of the kernel stands for. */
struct group_description {
	char name[SUBJECT_NAME_MAX];        /* clean, as series have it */
	char other_name[SUBJECT_NAME_MAX];  /* clean, where another living one has that already */
	char full_name[CONTAINER_TEXT_MAX]; /* as it was given, for the rules of Service blocks */
	bool is_sandbox;                    /* it only holds the namespaces of a pod: no series */
};

/* Describes a unit, a user or a container; keys of command names have none. Names of users are from
 * /etc/passwd alone, those of containers from the state of their runtimes, where that is gone or
 * cannot be read the first 12 digits of the id. 0; -EAGAIN: a file does not answer, and *ret is
 * what is known without; waits 200 ms a file at most. Of one thread at a time. */
int group_describe(const struct group_key *key, struct users *users, struct file_reader *files,
		   struct group_description *ret);

#endif
