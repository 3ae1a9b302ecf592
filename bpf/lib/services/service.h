/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * What the service programs and the engine exchange: rows of services, labels of process rows,
 * assignments by the engine and counters by the kernel. Included by both sides.
 */
#ifndef SERVICE_H
#define SERVICE_H

#include "group.h"

#include <linux/types.h>

#define SERVICE_NAME_LEN 16 /* of a command name, as TASK_COMM_LEN */
#define CGROUP_NAME_LEN 124 /* of one directory of a cgroup's path */
#define CGROUP_DEPTH_MAX 16

/* Fixed rows. Configured services follow, then services that are discovered. */
enum service_row {
	SERVICE_OTHER,
	SERVICE_KERNEL,
	SERVICE_FIRST,
};

enum service_flag {
	SERVICE_USED = 1,        /* set by the kernel when it claims a free row */
	SERVICE_PER_PROCESS = 2, /* set by the engine before attachment */
};

/* Owner of a key: a value of the map `service_names`. */
struct service_name {
	__u32 row;
	__u32 fitted; /* a process has had the key */
};

/* A row of the map `services`. A command name is a key of kind GROUP_COMMAND. */
struct service {
	struct group_key key; /* empty for a configured service */
	__u32 flags;
	__u32 pad;
	__s64 processes; /* alive now */
	__u64 began_ns;  /* when it last got a process while it had none, by CLOCK_BOOTTIME */
};

/* What names a service that no rule names: bits of `services_from`. */
enum service_source {
	SERVICES_FROM_CONTAINERS = 1,
	SERVICES_FROM_UNITS = 2, /* and users */
	SERVICES_FROM_COMMANDS = 4,
};

/* The bit for this kind of key. */
static inline __u32 service_source_of(__u32 kind)
{
	if (kind == GROUP_COMMAND)
		return SERVICES_FROM_COMMANDS;
	return kind <= GROUP_USER ? SERVICES_FROM_UNITS : SERVICES_FROM_CONTAINERS;
}

/* Kinds of keys of which users can make as many as they like: they never use rows reserved for
 * units and containers. */
static inline int service_is_user_controlled(__u32 kind)
{
	return kind == GROUP_COMMAND || kind == GROUP_USER || kind == GROUP_USER_CONTAINER;
}

/* A cgroup of any hierarchy: a key of the map `service_groups`. */
struct group_id {
	__u64 number; /* within its hierarchy, as name_to_handle_at(2) returns it */
	__u32 hierarchy;
	__u32 pad;
};

/* Stored result for a cgroup. */
struct service_group {
	struct group_key key; /* from the names of its path */
	__u32 rule;           /* row of the first Service block with a Cgroup option for it, or 0 */
	__u32 named_rule; /* likewise with a Unit or Container option that the engine compares */
	__u32 is_pending; /* the engine has not compared them, or confirmed a user's container yet */
};

/* Of two rows of Service blocks, 0 being none, the first one. */
static inline __u32 first_row(__u32 a, __u32 b)
{
	return a && (!b || a < b) ? a : b;
}

/* The row that the rules give to the cgroup, or 0. */
static inline __u32 rule_of_group(const struct service_group *group)
{
	return first_row(group->rule, group->named_rule);
}

/* One directory below another, as a rule of a Cgroup option has it. */
struct cgroup_step {
	__u32 parent; /* `node` of the directory above, 0: the root */
	char name[CGROUP_NAME_LEN];
};

struct cgroup_node {
	__u32 node;   /* `parent` of the next step */
	__u32 row;    /* the service of this cgroup and everything below, or 0 */
	__u32 fitted; /* a process has been in it */
};

enum process_state {
	PROCESS_FREE,
	PROCESS_ALIVE,
	PROCESS_ENDED,
};

/* A row of the map `process_labels`: the owner of a process row. */
struct process_label {
	__u64 start_ns; /* since boot, as field 22 of /proc/PID/stat */
	__u64 end_ns;   /* when it exited or left its service */
	__u32 pid;
	__u32 row;
	__u32 state;
	__u32 pad;
};

#define ASSIGNMENT_RETRY \
	~0U /* a row: the engine could not read the command line, list the process again */
#define ASSIGNMENT_MATCH (~0U - 1) /* a row: the process has waited longest and claims a free one */

/* The engine's decision on one process, keyed by pid in the map `assignments`. */
struct assignment {
	__u64 start_ns;
	__u32 row;
	__u32 pad;
};

/* Which processes the scan lists. */
enum scan_mode {
	SCAN_NONE,         /* none: it only carries out assignments */
	SCAN_UNCLASSIFIED, /* those whose command lines the engine has not read */
	SCAN_AGAIN,        /* also those that were listed, but not read */
	SCAN_ALL,
	SCAN_PROCESSES,  /* all, for parts of the engine that do not read command lines */
	SCAN_UNASSIGNED, /* those that wait for a row, as struct unassigned_process */
	SCAN_MATCH,      /* none: all are matched again, by new rules */
};

enum listed_flag {
	LISTED_UNCLASSIFIED = 1, /* the engine has not read this command line */
	LISTED_FORKED = 2,       /* it has executed nothing since its parent forked it */
	LISTED_ASSIGNED = 4,     /* the engine has assigned `row` */
};

/* A process as the scan lists it. */
struct listed_process {
	__u64 start_ns;
	__u32 pid;
	__u32 parent;
	__u32 row;
	__u32 parent_row; /* if the engine has assigned it, else 0 */
	__u32 uid;        /* effective */
	__u32 flags;
};

/* A process that waits for a row: that of its key or, if `row` is that of a service, a process
 * row. */
struct unassigned_process {
	__u64 start_ns;
	__u64 since_ns; /* since boot */
	__u32 pid;
	__u32 row;
	struct group_key key;
};

/* Counters of the service object, for the engine. */
struct service_counters {
	__u64 unclassified;      /* command lines that the engine has not read */
	__u64 refused;           /* processes that got no storage, for lack of memory */
	__u64 no_room;           /* processes that found no free row */
	__s64 unassigned;        /* living processes that still have none */
	__s64 unassigned_names;  /* of these, those that wait for the row of a key */
	__s64 unassigned_groups; /* of these, those of units and containers */
	__u64 groups;            /* cgroups that were discovered */
	__u64 groups_to_inspect; /* of these, those that the engine has to inspect */
	__u64 groups_refused;    /* cgroups that could not be stored */
};

#endif
