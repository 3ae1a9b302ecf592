/* SPDX-License-Identifier: MIT */
/*
 * Paths of cgroups, as an administrator copies them from a shell or from systemd-cgls.
 */
#include "cgroup.h"

#include "bpf/lib/service.h"
#include "util/pseudo_file.h"

#include <errno.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>

/* The kernel side cuts longer names to one byte more. */
#define NAME_MAX_BYTES (CGROUP_NAME_LEN - 2)
#define MOUNTS_MAX 4096 /* lines of the table: a container host has hundreds */

/* What comes behind a directory in a path that begins with it, or NULL. */
static const char *below(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	if (strncmp(path, directory, length) != 0 || (path[length] != '/' && path[length] != '\0'))
		return NULL;
	return path + length;
}

/* Of a hierarchy that the engine tells processes apart by? */
static bool is_hierarchy(const struct mntent *entry)
{
	if (!strcmp(entry->mnt_type, "cgroup"))
		return hasmntopt(entry, "pids") || hasmntopt(entry, "memory");
	return !strcmp(entry->mnt_type, "cgroup2");
}

/* The path without the mount point, or NULL; one of those of cgroup2 is for messages. */
static const char *below_mount(const char *path, const char *mounts, char *point, size_t size)
{
	FILE *file = setmntent(mounts, "re");
	const char *found = NULL;
	struct mntent entry;
	char line[4096];

	for (int i = 0; file && i < MOUNTS_MAX && !found; i++) {
		if (!getmntent_r(file, &entry, line, sizeof(line)))
			break;
		if (!is_hierarchy(&entry))
			continue;
		if (!strcmp(entry.mnt_type, "cgroup2"))
			snprintf(point, size, "%s", entry.mnt_dir);
		found = below(path, entry.mnt_dir);
	}
	if (file)
		endmntent(file);
	/* A process may not be shown what is mounted. */
	if (!found && !point[0] && !(found = below(path, "/sys/fs/cgroup/unified")))
		found = below(path, "/sys/fs/cgroup");
	return found;
}

/* NULL: that of cgroup2. */
static bool has_controller(const struct mntent *entry, const char *controller)
{
	if (!controller)
		return !strcmp(entry->mnt_type, "cgroup2");
	return !strcmp(entry->mnt_type, "cgroup") && hasmntopt(entry, controller);
}

static bool find_mount(const char *mounts, const char *controller, char *ret_point, size_t size)
{
	FILE *file = setmntent(mounts, "re");
	struct mntent entry;
	bool found = false;
	char line[4096];

	for (int i = 0; file && i < MOUNTS_MAX && !found; i++) {
		if (!getmntent_r(file, &entry, line, sizeof(line)))
			break;
		found = has_controller(&entry, controller) && strlen(entry.mnt_dir) < size;
		if (found)
			strcpy(ret_point, entry.mnt_dir);
	}
	if (file)
		endmntent(file);
	return found;
}

int cgroup_open(const char *mounts, const char *controller, bool *ret_is_v1)
{
	char point[256];

	*ret_is_v1 = controller && find_mount(mounts, controller, point, sizeof(point));
	if (*ret_is_v1)
		return pseudo_root_open(PSEUDO_CGROUP1, point);
	if (!find_mount(mounts, NULL, point, sizeof(point)))
		return -ENODEV;
	return pseudo_root_open(PSEUDO_CGROUP, point);
}

static bool check_name(const char *name, size_t length, char *why, size_t size)
{
	if ((length == 1 && name[0] == '.') || (length == 2 && !strncmp(name, "..", 2)))
		snprintf(why, size, "a cgroup is not called \"%.*s\"", (int)length, name);
	else if (memchr(name, '*', length))
		snprintf(why, size,
			 "it takes one path, without wildcards; Unit and Container take some");
	else if (length > NAME_MAX_BYTES)
		snprintf(why, size, "its part \"%.20s...\" has more than %d bytes", name,
			 NAME_MAX_BYTES);
	else
		return true;
	return false;
}

bool cgroup_path(const char *text, const char *mounts, char *ret_path, char *why, size_t size)
{
	char point[256] = "";
	const char *from = below_mount(text, mounts, point, sizeof(point));
	unsigned depth = 0;
	size_t length, end = 0;

	if (!from && below(text, "/sys")) {
		snprintf(why, size, "cgroup2 is mounted at %s; give the path below that", point);
		return false;
	}
	for (from = from ? from : text; *from; from += length) {
		from += strspn(from, "/");
		length = strcspn(from, "/");
		if (length == 0)
			break;
		if (!check_name(from, length, why, size))
			return false;
		if (++depth > CGROUP_DEPTH_MAX) {
			snprintf(why, size, "it is deeper than %d cgroups", CGROUP_DEPTH_MAX);
			return false;
		}
		if (end)
			ret_path[end++] = '/';
		memcpy(ret_path + end, from, length);
		end += length;
	}
	ret_path[end] = '\0';
	if (end == 0)
		snprintf(why, size, "the root cgroup holds every process");
	return end > 0;
}
