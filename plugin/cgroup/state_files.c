/* SPDX-License-Identifier: MIT */
/*
 * What is in the directories of container runtimes. The names in a directory say what it is of:
 *
 *     containers, UID.GID/containers     docker's data-root, without and with user namespaces
 *     DRIVER-containers                  storage of podman and CRI-O
 *     io.containerd.runtime.VERSION      the state of containerd, with a directory for each of its namespaces
 */
#include "state_files.h"

#include "runtime_trust.h"

#include "bpf/lib/services/group.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LIST_SIZE_MAX (1 << 18)
#define LIST_WAIT_MS 200
#define TASKS "io.containerd.runtime."

/* The directory that is examined. */
struct state_search {
	struct state_files *state;
	struct file_helper *files;
	struct file_view view;
	int count; /* of files that it may have */
};

int state_file_read(struct file_helper *files, struct file_request *request, struct file_view view,
		    struct file *ret_file)
{
	struct file file;
	int status;

	if (view.pid && !runtime_process_is_trusted(view.pid))
		return -ESRCH;
	request->pid = view.pid;
	status = file_read(files, request, &file);
	if (status)
		return status;
	if (!view.of_any_owner && (file.owner != 0 || file.mode & S_IWOTH)) {
		free(file.bytes);
		return -EPERM;
	}
	*ret_file = file;
	return 0;
}

static bool is_state_file_known(const struct state_files *state,
				const struct state_file *state_file)
{
	for (size_t i = 0; i < state->count; i++)
		if (!strcmp(state->file[i].before, state_file->before) &&
		    state->file[i].after == state_file->after &&
		    state->file[i].view.pid == state_file->view.pid)
			return true;
	return false;
}

/* Adds a file below a directory, as long as there is memory, and room below the limit. */
static void add_state_file(struct state_search *search, struct state_file state_file,
			   const char *path, const char *below)
{
	struct state_files *state = search->state;
	struct state_file *grown;

	if (asprintf(&state_file.before, "%s/%s", path, below) < 0)
		return;
	state_file.view = search->view;
	search->count++;
	grown = is_state_file_known(state, &state_file) || state->count == STATE_FILES_MAX
			? NULL
			: reallocarray(state->file, state->count + 1, sizeof(*grown));
	if (!grown) {
		free(state_file.before);
		return;
	}
	state->file = grown;
	state->file[state->count++] = state_file;
}

static int list_state_directory(struct state_search *search, const char *path,
				struct file *ret_names)
{
	struct file_request request = { .path = path,
					.size_max = LIST_SIZE_MAX,
					.follow = true,
					.is_directory = true,
					.wait_ms = LIST_WAIT_MS,
					.budget = FILE_OF_ROOT };

	return state_file_read(search->files, &request, search->view, ret_names);
}

static const char *next_listed_name(const struct file *names, const char *at)
{
	at = at ? at + strlen(at) + 1 : names->bytes;
	return at < names->bytes + names->size ? at : NULL;
}

static int add_tasks(struct state_search *search, const char *path)
{
	static const struct state_file state_file = { .kinds = 1 << GROUP_CONTAINERD,
						      .format = STATE_BUNDLE,
						      .after = "/config.json" };
	const char *name = NULL;
	struct file names;
	int status = list_state_directory(search, path, &names);
	char below[NAME_MAX + 2];

	if (status)
		return status;
	while ((name = next_listed_name(&names, name))) {
		snprintf(below, sizeof(below), "%s/", name);
		if (name[0] != '.')
			add_state_file(search, state_file, path, below);
	}
	free(names.bytes);
	return 0;
}

/* Lists that name podman's containers, and bundles that name those of CRI-O. */
static void add_storage(struct state_search *search, const char *path, const char *name)
{
	static const struct state_file list = { .kinds = 1 << GROUP_PODMAN,
						.format = STATE_STORAGE };
	static const struct state_file bundle = { .kinds = 1 << GROUP_CRIO,
						  .format = STATE_BUNDLE,
						  .after = "/userdata/config.json" };
	static const char *const lists[] = { "containers.json", "volatile-containers.json" };
	char below[NAME_MAX + 32];

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		snprintf(below, sizeof(below), "%s/%s", name, lists[i]);
		add_state_file(search, list, path, below);
	}
	snprintf(below, sizeof(below), "%s/", name);
	add_state_file(search, bundle, path, below);
}

static void add_docker(struct state_search *search, const char *path, const char *below)
{
	static const struct state_file state_file = { .kinds = 1 << GROUP_DOCKER,
						      .format = STATE_DOCKER,
						      .after = "/config.v2.json" };

	add_state_file(search, state_file, path, below);
}

/* UID.GID: docker's data of containers with a user namespace. */
static bool is_remapped(const char *name)
{
	static const char digits[] = "0123456789";
	size_t uid = strspn(name, digits), gid;

	if (uid == 0 || name[uid] != '.')
		return false;
	gid = strspn(name + uid + 1, digits);
	return gid && name[uid + 1 + gid] == '\0';
}

static bool is_storage(const char *name)
{
	static const char end[] = "-containers";
	size_t length = strlen(name);

	return length >= sizeof(end) && !strcmp(name + length - (sizeof(end) - 1), end);
}

static bool is_tasks(const char *name)
{
	return !strncmp(name, TASKS, sizeof(TASKS) - 1);
}

bool state_files_are_below(const char *name)
{
	return is_storage(name) || is_tasks(name);
}

static void examine_name(struct state_search *search, const char *path, const char *name)
{
	char below[STATE_PATH_MAX + NAME_MAX + 2];

	if (!strcmp(name, "containers")) {
		add_docker(search, path, "containers/");
	} else if (is_remapped(name)) {
		snprintf(below, sizeof(below), "%s/containers/", name);
		add_docker(search, path, below);
	} else if (is_storage(name)) {
		add_storage(search, path, name);
	} else if (is_tasks(name)) {
		snprintf(below, sizeof(below), "%s/%s", path, name);
		add_tasks(search, below);
	}
}

static int examine_directory(struct state_search *search, const char *path)
{
	const char *name = NULL, *last = strrchr(path, '/');
	struct file names;
	int status;

	if (last && is_tasks(last + 1))
		return add_tasks(search, path);
	status = list_state_directory(search, path, &names);
	if (status)
		return status;
	while ((name = next_listed_name(&names, name)))
		examine_name(search, path, name);
	free(names.bytes);
	return 0;
}

int state_files_add(struct state_files *state, struct file_helper *files, const char *path,
		    struct file_view view)
{
	struct state_search search = { .state = state, .files = files, .view = view };
	char clean[STATE_PATH_MAX];
	size_t length = strlen(path);
	int status;

	while (length > 1 && path[length - 1] == '/')
		length--;
	if (length >= sizeof(clean))
		return -ENAMETOOLONG;
	memcpy(clean, path, length);
	clean[length] = '\0';
	status = examine_directory(&search, clean);
	return status ?: search.count;
}

void state_files_done(struct state_files *state)
{
	for (size_t i = 0; i < state->count; i++)
		free(state->file[i].before);
	free(state->file);
	*state = (struct state_files){ 0 };
}
