/* SPDX-License-Identifier: MIT */
/*
 * Names of containers that a user's own runtime has made: rootless podman, docker and containerd. Their state is in
 * the user's home, or where configuration files say. The user controls all of it, and may make an id up, lead a
 * path elsewhere, or hang a file. A file counts only if it is the user's: no user gives containers names of
 * others' state. If a file hangs, no other one of this home is tried meanwhile.
 */
#include "user_state.h"

#include "runtime_config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USER_STATE_WAIT_MS 200
#define SETTINGS_SIZE_MAX (1 << 16)

/* One search. */
struct user_search {
	uid_t uid;
	const char *home, *id;
	struct file_helper *files;
	struct container *container;
	struct named_state *state;
	int status; /* -ENOENT; -EAGAIN: a file did not answer; 0: found */
};

/* A file in the user's time. */
static struct file_request user_request(const struct user_search *search, size_t size_max)
{
	return (struct file_request){
		.size_max = size_max,
		.wait_ms = USER_STATE_WAIT_MS,
		.budget = FILE_OF_USERS,
		.owner = file_number(search->home),
		.user = search->uid,
	};
}

static int note_read(struct user_search *search, int status)
{
	if (status && helper_may_reply_later(status))
		search->status = -EAGAIN;
	return status;
}

/* Inspects the state file at this path, unless the container was found before. */
__attribute__((format(printf, 3, 4))) static void try_state(struct user_search *search,
							    enum state_format format,
							    const char *path_format, ...)
{
	struct named_state state = {
		.format = format,
		.view = { .of_any_owner = true }, /* the request has the user */
		.request = user_request(search, STATE_SIZE_MAX),
	};
	va_list arguments;
	int length;

	va_start(arguments, path_format);
	length = vsnprintf(state.path, sizeof(state.path), path_format, arguments);
	va_end(arguments);
	if (search->status == 0 || length >= (int)sizeof(state.path) ||
	    note_read(search,
		      named_state_find(&state, search->files, search->id, search->container)))
		return;
	*search->state = state;
	search->status = 0;
}

/* --- settings --- */

/* Copies the path with $HOME and $UID replaced; "": it is too long, or not absolute. */
static void expand_path(const struct user_search *search, const char *path,
			char to[NAMED_STATE_PATH_MAX])
{
	const char *end = path + strlen(path);
	char uid[16];
	size_t used = 0;

	snprintf(uid, sizeof(uid), "%u", (unsigned)search->uid);
	while (path < end) {
		const char *piece = !strncmp(path, "$HOME", 5)  ? search->home
				    : !strncmp(path, "$UID", 4) ? uid
								: NULL;
		size_t piece_length = piece ? strlen(piece) : 1;

		if (used + piece_length >= NAMED_STATE_PATH_MAX)
			break;
		memcpy(to + used, piece ?: path, piece_length);
		used += piece_length;
		path += piece == uid ? 4 : piece ? 5 : 1;
	}
	to[path >= end && to[0] == '/' ? used : 0] = '\0';
}

/* The path that a settings file has under the key; "": none. */
static void read_path_setting(struct user_search *search, const char *path, const char *key,
			      char to[NAMED_STATE_PATH_MAX])
{
	struct file_request request = user_request(search, SETTINGS_SIZE_MAX);
	char value[STATE_PATH_MAX];
	struct file file;

	to[0] = '\0';
	request.path = path;
	if (note_read(search, file_read(search->files, &request, &file)))
		return;
	if (runtime_setting(file.bytes, key, value))
		expand_path(search, value, to);
	free(file.bytes);
}

/* Likewise of a file in the home. */
static void read_home_setting(struct user_search *search, const char *name, const char *key,
			      char to[NAMED_STATE_PATH_MAX])
{
	char path[NAMED_STATE_PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", search->home, name);
	read_path_setting(search, path, key, to);
}

/* --- runtimes --- */

static void try_storage(struct user_search *search, const char *root)
{
	static const char *const drivers[] = { "overlay", "vfs", "btrfs" };

	for (size_t i = 0; root[0] && i < sizeof(drivers) / sizeof(*drivers); i++) {
		try_state(search, STATE_STORAGE, "%s/%s-containers/containers.json", root,
			  drivers[i]);
		try_state(search, STATE_STORAGE, "%s/%s-containers/volatile-containers.json", root,
			  drivers[i]);
	}
}

/* As containers-storage.conf(5) says. */
static void try_podman(struct user_search *search)
{
	static const char *const machine[] = { "/etc/containers/storage.conf",
					       "/usr/share/containers/storage.conf" };
	char root[NAMED_STATE_PATH_MAX];

	snprintf(root, sizeof(root), "%s/.local/share/containers/storage", search->home);
	try_storage(search, root);
	if (search->status == 0)
		return;
	read_home_setting(search, ".config/containers/storage.conf", "graphroot", root);
	try_storage(search, root);
	for (size_t i = 0; search->status && i < sizeof(machine) / sizeof(*machine); i++) {
		read_path_setting(search, machine[i], "rootless_storage_path", root);
		try_storage(search, root);
	}
	/* If transient_store is set. */
	try_state(search, STATE_STORAGE,
		  "/run/user/%u/containers/overlay-containers/volatile-containers.json",
		  (unsigned)search->uid);
}

static void try_docker(struct user_search *search)
{
	char root[NAMED_STATE_PATH_MAX];

	try_state(search, STATE_DOCKER, "%s/.local/share/docker/containers/%s/config.v2.json",
		  search->home, search->id);
	if (search->status == 0)
		return;
	read_home_setting(search, ".config/docker/daemon.json", "data-root", root);
	if (root[0])
		try_state(search, STATE_DOCKER, "%s/containers/%s/config.v2.json", root,
			  search->id);
}

/* That of rootlesskit, whose /run/containerd is this directory. */
static void try_containerd(struct user_search *search)
{
	static const char *const spaces[] = { "default", "k8s.io" };

	for (size_t i = 0; i < sizeof(spaces) / sizeof(*spaces); i++)
		try_state(search, STATE_BUNDLE,
			  "/run/user/%u/containerd/io.containerd.runtime.v2.task/%s/%s/config.json",
			  (unsigned)search->uid, spaces[i], search->id);
}

int user_container(uid_t uid, const char *home, const char *id, struct file_helper *files,
		   struct container *ret_container, struct named_state *ret_state)
{
	struct user_search search = {
		.uid = uid,
		.home = home,
		.id = id,
		.files = files,
		.container = ret_container,
		.state = ret_state,
		.status = -ENOENT,
	};

	if (!state_is_readable())
		return -ENOENT;
	try_podman(&search);
	try_docker(&search);
	try_containerd(&search);
	return search.status;
}
