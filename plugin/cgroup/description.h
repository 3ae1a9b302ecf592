/* SPDX-License-Identifier: MIT */
#ifndef EBPF_DESCRIPTION_H
#define EBPF_DESCRIPTION_H

#include "config/name.h"
#include "container.h"
#include "container_names.h"
#include "helper/file.h"
#include "user.h"

#include "bpf/lib/services/group.h"

#define USER_PREFIX_MAX 48 /* "user-NAME:" with the NUL */
#define GROUP_FULL_NAME_MAX (USER_PREFIX_MAX + CONTAINER_TEXT_MAX)

/* The names of a unit, a user or a container. */
struct group_description {
	char name[SUBJECT_TEXT_MAX];         /* of which the name of the series is made */
	char other_name[SUBJECT_TEXT_MAX];   /* likewise; used if another living one has `name` */
	char full_name[GROUP_FULL_NAME_MAX]; /* as it was given, for the rules of Service blocks */
	bool is_sandbox;                     /* it only holds the namespaces of a pod: no series */
	bool is_unconfirmed; /* a user's container that no state of the user has: the names are the user's */
	bool is_id;          /* a container of which only the id is known */
	enum workload workload; /* of a container */
};

/* Describes a unit, a user or a container; keys of command names have no description. Names of users are
 * from /etc/passwd, those of containers from the state files of their runtimes. Without such a file the name
 * is the first 12 digits of the id, or that of the user whose container it is. A description may change with each
 * round of the containers. 0; -EAGAIN: a file could not be read in time, *ret is what is known without it, and the
 * round changes when it is known. Waits 200 ms a file at most. One thread at a time. */
int group_describe(const struct group_key *key, struct users *users,
		   struct container_names *containers, struct file_helper *files,
		   struct group_description *ret);

#endif
