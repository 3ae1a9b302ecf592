/* SPDX-License-Identifier: MIT */
/*
 * Names of services on real machines, from the cgroup's path to the name: the cgroups of
 * tests/unit/state/cgroups, and those in README.md and in the manual. A line there is "ebpf-NAME PATH"; "..."
 * after 12 digits is the remainder of a recorded id.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/state.h"

#include "bpf/lib/services/group.h"
#include "plugin/cgroup/description.h"
#include "plugin/cgroup/state.h"
#include "plugin/cgroup/user.h"

#include <errno.h>

#define SHORT_ID 12
#define PATH_SIZE 512

static const char *const ids[] = { DOCKER_POD_ID,        DOCKER_SWARM_ID, DOCKER_ID,
				   DOCKER_KUBERNETES_ID, PODMAN_ID,       PODMAN_SHORT_ID,
				   PODMAN_ROOTLESS_ID,   CONTAINERD_ID,   CRIO_ID };

/* Replaces the function of the library. */
int __wrap_file_read(struct file_helper *helper, const struct file_request *request,
		     struct file *ret_file);
int __wrap_file_read(struct file_helper *helper, const struct file_request *request,
		     struct file *ret_file)
{
	int status = recorded_read(request, ret_file);

	(void)helper;
	ret_file->owner = request->user;
	return status;
}

/* Returns the recorded id whose first digits are at `at`, unless the whole id is. */
static const char *id_of(const char *at)
{
	for (size_t i = 0; i < COUNT_OF(ids); i++)
		if (!strncmp(at, ids[i], SHORT_ID))
			return ids[i];
	return NULL;
}

static bool has_id(const char *path)
{
	for (; *path; path++)
		if (id_of(path))
			return true;
	return false;
}

/* Replaces each shortened id by the whole one. */
static void expand(const char *path, char to[PATH_SIZE])
{
	size_t length = 0;

	for (; *path && length < PATH_SIZE - GROUP_ID_LENGTH - 1; path++) {
		const char *id = id_of(path);

		if (id && !strncmp(path + SHORT_ID, "...", 3)) {
			memcpy(to + length, id, GROUP_ID_LENGTH);
			length += GROUP_ID_LENGTH;
			path += SHORT_ID + 2;
		} else {
			to[length++] = *path;
		}
	}
	to[length] = '\0';
}

static struct group_key key_of(const char *path)
{
	struct group_walk walk;
	int done = 0;

	memset(&walk, 0, sizeof(walk));
	while (*path && !done) {
		path += strspn(path, "/");
		walk.length = (__u32)strcspn(path, "/");
		if (walk.length >= GROUP_DIRECTORY_MAX)
			abort();
		memcpy(walk.name, path, walk.length);
		walk.name[walk.length] = '\0';
		path += walk.length;
		done = group_step(&walk);
	}
	return walk.key;
}

static struct users users = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct container_names containers;

static void check_line(const char *path, const char *name)
{
	struct group_description described = { .name = "" };
	char whole[PATH_SIZE];
	struct group_key key;

	CASE("%s", path);
	expand(path, whole);
	key = key_of(whole);
	CHECK_INT(key.kind != GROUP_COMMAND, true);
	CHECK_INT(group_describe(&key, &users, &containers, NULL, &described), 0);
	CHECK_TEXT(described.name, name);
	CHECK_INT(described.is_sandbox, false);
}

/* Checks the lines of this form; returns how many there are. */
static unsigned check_file(const char *name)
{
	const char *source = getenv("abs_top_srcdir") ?: ".";
	char path[PATH_SIZE], line[1024], service[256];
	unsigned count = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", source, name);
	file = fopen(path, "r");
	if (!file) {
		perror(path);
		exit(1);
	}
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, " ebpf-%255s /%510s", service, path + 1) != 2)
			continue;
		path[0] = '/';
		count++;
		/* Without jansson an id has no name. */
		if (state_is_readable() || !has_id(path))
			check_line(path, service);
	}
	fclose(file);
	return count;
}

int main(void)
{
	static const struct {
		const char *file;
		unsigned least;
	} tables[] = {
		{ "tests/unit/state/cgroups", 30 },
		{ "README.md", 7 },
		{ "docs/collectd-ebpf.pod", 19 },
	};

	container_names_init(&containers, &users);
	for (size_t i = 0; i < COUNT_OF(tables); i++) {
		unsigned lines = check_file(tables[i].file);

		CASE("%s: names that were found: %u", tables[i].file, lines);
		CHECK_INT(lines >= tables[i].least, true);
	}
	users_done(&users);
	container_names_done(&containers);
	return testing_end();
}
