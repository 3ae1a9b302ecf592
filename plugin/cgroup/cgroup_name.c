/* SPDX-License-Identifier: MIT */
/*
 * Names of cgroups by their numbers. The number is the kernel's file handle of the directory, so the
 * directory is opened by it and no tree is walked.
 *
 * The look-up opens nothing: it finds the name in a table, or enters the number there for the next
 * refresh. A number belongs to one set of the table, where it replaces the entry that was used
 * longest ago. An entry whose name is pending is not replaced: if all entries of the set are, the
 * number is entered by a look-up after the refresh.
 *
 * A name stays valid: the kernel neither renames a cgroup of cgroup2 nor uses its number again.
 */
#include "cgroup_name.h"

#include "config/cgroup.h"
#include "util/lock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOUNTS "/proc/self/mounts"
#define PATH_ROOM 4096
#define HANDLE_TYPE 0xfe                /* FILEID_KERNFS of the kernel */
#define HASH_FACTOR 0x9e3779b97f4a7c15U /* 2^64 divided by the golden ratio */

void cgroup_names_init(struct cgroup_names *names)
{
	*names = (struct cgroup_names){ .lock = PTHREAD_MUTEX_INITIALIZER };
}

/* --- the table --- */

/* The numbers of cgroups that are made one after the other are of different sets. */
static struct cgroup_entry *cgroup_set(struct cgroup_names *names, uint64_t id)
{
	return names->entry[(id * HASH_FACTOR >> 32) * CGROUP_NAMES_SETS >> 32];
}

static struct cgroup_entry *find_cgroup_entry(struct cgroup_names *names, uint64_t id)
{
	struct cgroup_entry *set = cgroup_set(names, id);

	for (size_t i = 0; i < CGROUP_NAMES_WAYS; i++)
		if (set[i].used && set[i].id == id)
			return &set[i];
	return NULL;
}

static void want_cgroup_name(struct cgroup_names *names, uint64_t id)
{
	struct cgroup_entry *set = cgroup_set(names, id), *oldest = NULL;

	for (size_t i = 0; i < CGROUP_NAMES_WAYS; i++)
		if (!set[i].is_wanted && (!oldest || set[i].used < oldest->used))
			oldest = &set[i];
	if (!oldest)
		return;
	free(oldest->name);
	*oldest = (struct cgroup_entry){ .id = id, .used = names->lookups, .is_wanted = true };
}

enum name_state cgroup_name(struct cgroup_names *names, uint64_t id, char *to, size_t size)
{
	enum name_state state = NAME_PENDING;
	struct cgroup_entry *entry;

	lock_acquire(&names->lock);
	names->lookups++;
	entry = find_cgroup_entry(names, id);
	if (!entry) {
		want_cgroup_name(names, id);
	} else {
		entry->used = names->lookups;
		if (!entry->is_wanted)
			state = entry->name ? NAME_FOUND : NAME_NONE;
	}
	if (state == NAME_FOUND)
		snprintf(to, size, "%s", entry->name);
	lock_release(&names->lock);
	return state;
}

/* Their numbers do not change before enter_cgroup_name(). */
static size_t list_wanted_cgroups(struct cgroup_names *names, struct cgroup_entry **ret_wanted)
{
	size_t count = 0;

	lock_acquire(&names->lock);
	for (size_t s = 0; s < CGROUP_NAMES_SETS; s++)
		for (size_t i = 0; i < CGROUP_NAMES_WAYS; i++)
			if (names->entry[s][i].is_wanted)
				ret_wanted[count++] = &names->entry[s][i];
	lock_release(&names->lock);
	return count;
}

static void enter_cgroup_name(struct cgroup_names *names, struct cgroup_entry *entry, char *name)
{
	lock_acquire(&names->lock);
	entry->name = name;
	entry->is_wanted = false;
	lock_release(&names->lock);
}

/* --- the kernel's names --- */

/* Tried again at each refresh, until cgroup2 is mounted. */
static void open_cgroup_root(struct cgroup_names *names)
{
	bool is_v1;
	int path;

	if (names->is_open)
		return;
	path = cgroup_open(MOUNTS, NULL, &is_v1);
	/* open_by_handle_at(2) refuses a mount that was opened with O_PATH. */
	names->root = path < 0 ? -1 : openat(path, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	names->is_open = names->root >= 0;
	if (path >= 0)
		close(path);
}

static int open_cgroup_by_id(int mount, uint64_t id)
{
	union {
		struct file_handle handle;
		char bytes[sizeof(struct file_handle) + sizeof(id)];
	} of = { .handle = { .handle_bytes = sizeof(id), .handle_type = HANDLE_TYPE } };

	memcpy(of.handle.f_handle, &id, sizeof(id));
	return open_by_handle_at(mount, &of.handle, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* The path of an open file in the mount namespace of this process. */
static bool read_fd_path(int fd, char path[PATH_ROOM])
{
	char link[32];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, PATH_ROOM - 1);
	path[length > 0 ? length : 0] = '\0';
	return length > 0;
}

/* NULL: it is not below the top. */
static const char *find_relative_path(const char *top, const char *path)
{
	size_t length = strlen(top);

	if (strncmp(path, top, length) != 0)
		return NULL;
	path += length;
	path += strspn(path, "/");
	return path[0] ? path : "root";
}

/* On the heap; NULL: it has none. */
static char *read_cgroup_name(int root, uint64_t id)
{
	char top[PATH_ROOM], path[PATH_ROOM];
	int fd = root < 0 ? -1 : open_cgroup_by_id(root, id);
	const char *name = NULL;

	if (fd >= 0 && read_fd_path(root, top) && read_fd_path(fd, path))
		name = find_relative_path(top, path);
	if (fd >= 0)
		close(fd);
	return name ? strdup(name) : NULL;
}

void cgroup_names_refresh(struct cgroup_names *names)
{
	struct cgroup_entry *wanted[CGROUP_NAMES_MAX];
	size_t count = list_wanted_cgroups(names, wanted);

	if (count == 0)
		return;
	lock_assert_none("names of cgroups");
	open_cgroup_root(names);
	for (size_t i = 0; i < count; i++)
		enter_cgroup_name(names, wanted[i], read_cgroup_name(names->root, wanted[i]->id));
}

void cgroup_names_done(struct cgroup_names *names)
{
	for (size_t s = 0; s < CGROUP_NAMES_SETS; s++)
		for (size_t i = 0; i < CGROUP_NAMES_WAYS; i++)
			free(names->entry[s][i].name);
	if (names->is_open)
		close(names->root);
	cgroup_names_init(names);
}
