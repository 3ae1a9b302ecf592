/* SPDX-License-Identifier: MIT */
/*
 * Processes that may say where a container runtime keeps its state. A process names itself as it likes, and a container's
 * root is root. A setuid program has the real user id of the user who chose its arguments.
 */
#include "runtime_trust.h"

#include "util/kernel_file.h"

#include "bpf/lib/services/group.h"

#include <stdio.h>
#include <string.h>

#define PROC_TEXT_MAX 16384

static bool is_of_root(const char *status)
{
	const char *ids = strstr(status, "\nUid:");

	/* Real, effective, saved, and that of file accesses. */
	return ids && !strncmp(ids, "\nUid:\t0\t0\t0\t0\n", 14);
}

/* What the path of a cgroup, up to the end of its line, says. */
static unsigned group_kind_of_path(const char *path)
{
	struct group_walk walk = { 0 };
	int is_final = 0;

	while (*path == '/' && !is_final) {
		size_t length = strcspn(++path, "/\n");

		if (length >= sizeof(walk.name))
			break;
		memcpy(walk.name, path, length);
		walk.name[length] = '\0';
		walk.length = (__u32)length;
		path += length;
		is_final = length && group_step(&walk);
	}
	return walk.key.kind;
}

/* Is it, in each hierarchy, in a unit or in nothing? Lines are NUMBER:CONTROLLERS:PATH. */
static bool is_outside_of_containers(const char *cgroups)
{
	for (const char *line = cgroups; *line; line += *line == '\n') {
		size_t length = strcspn(line, "\n");
		const char *path = memmem(line, length, ":/", 2);

		if (!path || group_kind_of_path(path + 1) > GROUP_UNIT)
			return false;
		line += length;
	}
	return cgroups[0] != '\0';
}

bool runtime_trusts(const char *status, const char *cgroups)
{
	return is_of_root(status) && is_outside_of_containers(cgroups);
}

/* Returns the file as a string, "" if it cannot be read. */
static const char *read_process_file(pid_t pid, const char *name, char to[PROC_TEXT_MAX])
{
	char path[64];
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	size = kernel_file_read(path, to, PROC_TEXT_MAX - 1);
	to[size > 0 ? size : 0] = '\0';
	return to;
}

bool runtime_process_is_trusted(pid_t pid)
{
	char status[PROC_TEXT_MAX], cgroups[PROC_TEXT_MAX];

	return runtime_trusts(read_process_file(pid, "status", status),
			      read_process_file(pid, "cgroup", cgroups));
}
