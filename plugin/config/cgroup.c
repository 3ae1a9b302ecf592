/* SPDX-License-Identifier: MIT */
/*
 * Paths of cgroups, as administrators copy them from a shell or from systemd-cgls.
 */
#include "cgroup.h"

#include "bpf/lib/services/service.h"
#include "util/kernel_directory.h"

#include <errno.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>

/* The kernel's side cuts a longer name to one byte more, so that it never fits. */
#define CGROUP_NAME_MAX (CGROUP_NAME_LEN - 2)
#define MOUNTS_MAX 4096 /* lines of the table: a container host has hundreds */

/* The part of a path behind a directory that it starts with, or NULL. */
static const char *strip_directory(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	if (strncmp(path, directory, length) != 0 || (path[length] != '/' && path[length] != '\0'))
		return NULL;
	return path + length;
}

/* Does the engine classify processes by this hierarchy? */
static bool is_classifying_mount(const struct mntent *entry)
{
	if (!strcmp(entry->mnt_type, "cgroup"))
		return hasmntopt(entry, "pids") || hasmntopt(entry, "memory");
	return !strcmp(entry->mnt_type, "cgroup2");
}

/* The path relative to its mount; NULL: it starts at none. Writes the mount of cgroup2, for messages. */
static const char *strip_mount(const char *path, const char *mounts, char *mount, size_t size)
{
	FILE *file = setmntent(mounts, "re");
	const char *found = NULL;
	struct mntent entry;
	char line[4096];

	for (int i = 0; file && i < MOUNTS_MAX && !found; i++) {
		if (!getmntent_r(file, &entry, line, sizeof(line)))
			break;
		if (!is_classifying_mount(&entry))
			continue;
		if (!strcmp(entry.mnt_type, "cgroup2"))
			snprintf(mount, size, "%s", entry.mnt_dir);
		found = strip_directory(path, entry.mnt_dir);
	}
	if (file)
		endmntent(file);
	/* The mounts may be hidden from this process. */
	if (!found && !mount[0] && !(found = strip_directory(path, "/sys/fs/cgroup/unified")))
		found = strip_directory(path, "/sys/fs/cgroup");
	return found;
}

/* controller NULL: cgroup2. */
static bool is_mount_of(const struct mntent *entry, const char *controller)
{
	if (!controller)
		return !strcmp(entry->mnt_type, "cgroup2");
	return !strcmp(entry->mnt_type, "cgroup") && hasmntopt(entry, controller);
}

static bool find_cgroup_mount(const char *mounts, const char *controller, char *ret_mount,
			      size_t size)
{
	FILE *file = setmntent(mounts, "re");
	struct mntent entry;
	bool found = false;
	char line[4096];

	for (int i = 0; file && i < MOUNTS_MAX && !found; i++) {
		if (!getmntent_r(file, &entry, line, sizeof(line)))
			break;
		found = is_mount_of(&entry, controller) && strlen(entry.mnt_dir) < size;
		if (found)
			strcpy(ret_mount, entry.mnt_dir);
	}
	if (file)
		endmntent(file);
	return found;
}

int cgroup_open(const char *mounts, const char *controller, bool *ret_is_v1)
{
	char mount[256];

	*ret_is_v1 = controller && find_cgroup_mount(mounts, controller, mount, sizeof(mount));
	if (*ret_is_v1)
		return kernel_directory_open(KERNEL_FS_CGROUP1, mount);
	if (!find_cgroup_mount(mounts, NULL, mount, sizeof(mount)))
		return -ENODEV;
	return kernel_directory_open(KERNEL_FS_CGROUP, mount);
}

static bool check_cgroup_name(const char *name, size_t length, char *why, size_t size)
{
	if ((length == 1 && name[0] == '.') || (length == 2 && !strncmp(name, "..", 2)))
		snprintf(why, size, "a cgroup is not called \"%.*s\"", (int)length, name);
	else if (memchr(name, '*', length))
		snprintf(why, size,
			 "it takes one path, without wildcards; Unit and Container take some");
	else if (length > CGROUP_NAME_MAX)
		snprintf(why, size, "its part \"%.20s...\" has more than %d bytes", name,
			 CGROUP_NAME_MAX);
	else
		return true;
	return false;
}

bool cgroup_path(const char *text, const char *mounts, char *ret_path, char *why, size_t size)
{
	char mount[256] = "";
	const char *from = strip_mount(text, mounts, mount, sizeof(mount));
	unsigned depth = 0;
	size_t length, end = 0;

	if (!from && strip_directory(text, "/sys")) {
		snprintf(why, size, "cgroup2 is mounted at %s; give the path below that", mount);
		return false;
	}
	for (from = from ? from : text; *from; from += length) {
		from += strspn(from, "/");
		length = strcspn(from, "/");
		if (length == 0)
			break;
		if (!check_cgroup_name(from, length, why, size))
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
