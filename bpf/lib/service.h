/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What the service programs and the engine tell each other: rows of services,
 * labels of process rows, assignments from the engine and counters from the kernel.
 * Included by both sides.
 */
#ifndef SERVICE_H
#define SERVICE_H

#include "group.h"

#include <linux/types.h>

#define SERVICE_NAME_LEN 16 /* of a command name, as TASK_COMM_LEN */
#define CGROUP_NAME_LEN 124 /* of one directory of a cgroup's path */
#define CGROUP_DEPTH_MAX 16

/* Fixed rows; configured services follow, then those that find their names themselves. */
enum service_row {
	SERVICE_OTHER,
	SERVICE_KERNEL,
	SERVICE_FIRST,
};

enum service_flag {
	SERVICE_USED = 1,        /* set by the kernel when it takes a free row */
	SERVICE_PER_PROCESS = 2, /* set by the engine before attach */
};

/* Whose a key is: a value of the map `service_names`. */
struct service_name {
	__u32 row;
	__u32 fitted; /* a process has had the key */
};

/* A row of the map `services`. The name of a command is a key of GROUP_COMMAND. */
struct service {
	struct group_key key; /* of one that is configured: nothing */
	__u32 flags;
	__u32 pad;
	__s64 processes; /* alive now */
};

/* What names a service, where no rule does: bits of `services_from`. */
enum service_source {
	SERVICES_FROM_CONTAINERS = 1,
	SERVICES_FROM_UNITS = 2, /* and users */
	SERVICES_FROM_COMMANDS = 4,
};

/* The bit of those that a kind of key is one of. */
static inline __u32 service_source_of(__u32 kind)
{
	if (kind == GROUP_COMMAND)
		return SERVICES_FROM_COMMANDS;
	return kind <= GROUP_USER ? SERVICES_FROM_UNITS : SERVICES_FROM_CONTAINERS;
}

/* Who may make as many names as he likes: his rows are no unit's or container's. */
static inline int service_is_anyones(__u32 kind)
{
	return kind == GROUP_COMMAND || kind == GROUP_USER;
}

#define GROUP_LOOKS_MAX 3 /* at one whose files do not answer */

/* A cgroup of any hierarchy: a key of the map `service_groups`. */
struct group_id {
	__u64 number; /* in its hierarchy, as name_to_handle_at(2) tells it */
	__u32 hierarchy;
	__u32 pad;
};

/* What is known of it. */
struct service_group {
	struct group_key key; /* by the names of its path */
	__u32 rule;           /* the row of the first Service block that it is in, or 0 */
	__u32 looks_left;     /* by the engine, for rules that need its files; 0: all is known */
};

/* One directory below another, as a rule of a Cgroup option sees it. */
struct cgroup_step {
	__u32 parent; /* 0: the root */
	char name[CGROUP_NAME_LEN];
};

struct cgroup_node {
	__u32 node;   /* what the next step's parent is */
	__u32 row;    /* the service of this cgroup and all below, or 0 */
	__u32 fitted; /* a process has been in it */
};

enum process_state {
	PROCESS_FREE,
	PROCESS_ALIVE,
	PROCESS_ENDED,
};

/* A row of the map `process_labels`: who has a process row. */
struct process_label {
	__u64 start_ns; /* since boot, as field 22 of /proc/PID/stat is */
	__u64 end_ns;   /* of what has ended, or left its service */
	__u32 pid;
	__u32 row;
	__u32 state;
	__u32 pad;
};

#define ASSIGNMENT_LOOK_AGAIN ~0U  /* a row: the engine could not see the command line */
#define ASSIGNMENT_MATCH (~0U - 1) /* a row: it has waited longest, and takes one that is free */

/* The engine's word on one process, keyed by pid in the map `assignments`. */
struct assignment {
	__u64 start_ns;
	__u32 row;
	__u32 pad;
};

/* Which processes the scan lists. */
enum scan_mode {
	SCAN_NONE,         /* it only carries out assignments */
	SCAN_UNCLASSIFIED, /* whose command lines the engine has not seen */
	SCAN_AGAIN,        /* and those that were listed, but not seen */
	SCAN_ALL,
	SCAN_MEMBERS, /* all, for others than who looks at command lines */
	SCAN_WAITING, /* that wait for a row, as struct waiting_process */
	SCAN_MATCH,   /* none: all are matched again, by rules that are new */
};

enum listed_flag {
	LISTED_UNCLASSIFIED = 1, /* the engine has not seen this command line */
	LISTED_FORKED = 2,       /* has executed nothing since its parent forked it */
	LISTED_ASSIGNED = 4,     /* `row` is the engine's own word */
};

/* A process as the scan lists it. */
struct listed_process {
	__u64 start_ns;
	__u32 pid;
	__u32 parent;
	__u32 row;
	__u32 parent_row; /* if that is the engine's own word, or 0 */
	__u32 uid;        /* effective */
	__u32 flags;
};

/* A process that waits for a row: for that of its key, or, with the row of a service, for one of its
 * own. */
struct waiting_process {
	__u64 start_ns;
	__u64 since_ns; /* since boot */
	__u32 pid;
	__u32 row;
	struct group_key key;
};

/* Counters of the service object, for the engine. */
struct service_counters {
	__u64 unclassified;   /* command lines that the engine has not seen */
	__u64 refused;        /* processes that got no storage, for want of memory */
	__u64 no_room;        /* processes that found no free row */
	__s64 waiting;        /* of those that live: how many still have none */
	__s64 waiting_names;  /* of these, for the row of a key */
	__s64 waiting_groups; /* of these, of a unit or a container */
	__u64 groups;         /* cgroups that were met */
	__u64 groups_refused; /* looked at that could not be remembered */
};

#endif
