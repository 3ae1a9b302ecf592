/* SPDX-License-Identifier: MIT */
/*
 * Where the container runtimes that run keep their state: dockerd, containerd, CRI-O and podman by their arguments; each
 * container by the process that watches it, conmon or a shim of containerd, which has its bundle.
 */
#include "runtime_process.h"

#include "runtime_config.h"
#include "runtime_trust.h"
#include "util/clock.h"
#include "util/kernel_file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND_SIZE 32
#define ARGUMENTS_SIZE_MAX (1 << 17)
#define ARGUMENTS_WAIT_MS 200
#define VIEWS_MAX 8 /* of mount namespaces and root directories */

struct process_search {
	struct state_files *state;
	struct file_helper *files;
	char views[VIEWS_MAX][64]; /* whose default directories were added */
	size_t view_count;
};

/* An option and what its value is. */
static const struct runtime_option {
	const char *command, *option;
	enum option_use { IS_DIRECTORY, IS_CONFIG, IS_BUNDLE /* or below it */ } use;
} runtime_options[] = {
	{ "dockerd", "--data-root", IS_DIRECTORY },
	{ "dockerd", "--graph", IS_DIRECTORY },
	{ "dockerd", "-g", IS_DIRECTORY },
	{ "dockerd", "--config-file", IS_CONFIG },
	{ "containerd", "--state", IS_DIRECTORY },
	{ "containerd", "--config", IS_CONFIG },
	{ "containerd", "-c", IS_CONFIG },
	{ "crio", "--root", IS_DIRECTORY },
	{ "crio", "-r", IS_DIRECTORY },
	{ "crio", "--runroot", IS_DIRECTORY },
	{ "crio", "--config", IS_CONFIG },
	{ "crio", "-c", IS_CONFIG },
	{ "podman", "--root", IS_DIRECTORY },
	{ "podman", "--runroot", IS_DIRECTORY },
	{ "conmon", "--bundle", IS_BUNDLE },
	{ "conmon", "-b", IS_BUNDLE },
	{ "conmon", "--pidfile", IS_BUNDLE }, /* in podman's runroot */
	{ "conmon", "-p", IS_BUNDLE },
	{ "containerd-shim", NULL, IS_BUNDLE }, /* 15 bytes; its working directory */
};

/* --- what a process sees --- */

/* Writes what a link of the process leads to, "" if that is unknown. */
static void read_process_link(pid_t pid, const char *name, char *to, size_t size)
{
	char path[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	length = readlink(path, to, size - 1);
	to[length > 0 ? length : 0] = '\0';
}

/* Whose view the paths of a process are: the daemon's if both have the same mounts and root directory, or if the process may
 * not be looked at (CAP_SYS_PTRACE). */
static struct file_view view_of(pid_t pid, char mounts[64])
{
	char own[64], root[STATE_PATH_MAX];
	bool is_same;

	read_process_link(getpid(), "ns/mnt", own, sizeof(own));
	read_process_link(pid, "ns/mnt", mounts, 64);
	read_process_link(pid, "root", root, sizeof(root));
	is_same = !strcmp(own, mounts) && !strcmp(root, "/");
	return (struct file_view){ .pid = is_same || !mounts[0] ? 0 : pid };
}

/* The default directories of a runtime with a view of its own are not the daemon's. */
static void add_defaults(struct process_search *search, const char *mounts, struct file_view view)
{
	for (size_t i = 0; i < search->view_count; i++)
		if (!strcmp(search->views[i], mounts))
			return;
	if (!view.pid || search->view_count == VIEWS_MAX)
		return;
	snprintf(search->views[search->view_count++], sizeof(*search->views), "%s", mounts);
	runtime_defaults_add(search->state, search->files, view);
}

/* --- what its arguments say --- */

/* Cuts off what is below the directory of a runtime: of conmon's STORAGE/overlay-containers/ID/userdata, and of a shim's
 * STATE/io.containerd.runtime.v2.task/NAMESPACE/ID. false: there is no such directory. */
static bool cut_bundle(char *path)
{
	char *slash = path;
	bool found = false;

	while (!found && (slash = strrchr(path, '/')) && slash != path) {
		*slash = '\0';
		found = state_files_are_below(slash + 1);
	}
	return found;
}

static void use_value(struct process_search *search, enum option_use use, const char *value,
		      struct file_view view)
{
	char path[STATE_PATH_MAX];

	if (value[0] != '/' || strlen(value) >= sizeof(path))
		return;
	strcpy(path, value);
	if (use == IS_CONFIG)
		runtime_config_read(search->state, search->files, path, view);
	else if (use == IS_DIRECTORY || cut_bundle(path))
		state_files_add(search->state, search->files, path, view);
}

/* The value of an option in this argument, or in the one after it; NULL: it is another option. */
static const char *option_value(const char *option, const char *argument, const char *end)
{
	size_t length = strlen(option);
	const char *next = argument + strlen(argument) + 1;

	if (strncmp(argument, option, length) != 0)
		return NULL;
	if (argument[length] == '=')
		return argument + length + 1;
	return argument[length] == '\0' && next < end ? next : NULL;
}

static void use_arguments(struct process_search *search, const char *command,
			  const struct file *arguments, struct file_view view)
{
	const char *end = arguments->bytes + arguments->size;

	for (const char *at = arguments->bytes; at < end; at += strlen(at) + 1)
		for (size_t i = 0; i < sizeof(runtime_options) / sizeof(*runtime_options); i++) {
			const struct runtime_option *option = &runtime_options[i];
			const char *value = NULL;

			if (option->option && !strcmp(option->command, command))
				value = option_value(option->option, at, end);
			if (value)
				use_value(search, option->use, value, view);
		}
}

static void use_process(struct process_search *search, const char *command, pid_t pid)
{
	char path[STATE_PATH_MAX], mounts[64];
	struct file_view view = view_of(pid, mounts);
	struct file_request request = { .path = path,
					.size_max = ARGUMENTS_SIZE_MAX,
					.cut = true,
					.wait_ms = ARGUMENTS_WAIT_MS,
					.budget = FILE_OF_ROOT_PROCESSES };
	struct file arguments;

	add_defaults(search, mounts, view);
	read_process_link(pid, "cwd", path, sizeof(path));
	if (!strcmp(command, "containerd-shim"))
		use_value(search, IS_BUNDLE, path, view);
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	if (file_read(search->files, &request, &arguments) != 0)
		return;
	use_arguments(search, command, &arguments, view);
	free(arguments.bytes);
}

/* --- all processes --- */

static bool is_runtime_command(const char *command)
{
	for (size_t i = 0; i < sizeof(runtime_options) / sizeof(*runtime_options); i++)
		if (!strcmp(runtime_options[i].command, command))
			return true;
	return false;
}

/* 0: this is no process. */
static pid_t parse_process_number(const char *name)
{
	char *end;
	unsigned long pid = strtoul(name, &end, 10);

	return *end == '\0' && pid <= INT32_MAX ? (pid_t)pid : 0;
}

static void inspect_runtime(struct process_search *search, pid_t pid)
{
	char path[64], command[COMMAND_SIZE];
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	size = kernel_file_read(path, command, sizeof(command) - 1);
	command[size > 0 ? size - 1 : 0] = '\0';
	if (is_runtime_command(command) && runtime_process_is_trusted(pid))
		use_process(search, command, pid);
}

void runtime_processes_add(struct state_files *state, struct file_helper *files, uint64_t end_ns)
{
	struct process_search search = { .state = state, .files = files };
	DIR *directory = opendir("/proc");
	struct dirent *entry;

	if (!directory)
		return;
	while (clock_ns() < end_ns && (entry = readdir(directory))) {
		pid_t pid = parse_process_number(entry->d_name);

		if (pid)
			inspect_runtime(&search, pid);
	}
	closedir(directory);
}
