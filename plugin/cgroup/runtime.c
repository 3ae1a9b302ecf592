/* SPDX-License-Identifier: MIT */
/*
 * Names of containers, from the state files of their runtimes; no socket is used.
 */
#include "runtime.h"

#include "runtime_config.h"
#include "runtime_process.h"
#include "state.h"
#include "storage_list.h"
#include "util/message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATE_WAIT_MS 200
#define LIST_WAIT_MS 2000
#define SEARCH_NS_MAX (NS_PER_S / 2)
/* Searches take 1 % of the time in the long run, and up to 200 ms at once. */
#define SEARCH_SHARE 100
#define SEARCH_AHEAD_NS (20 * NS_PER_S)

void runtimes_init(struct runtimes *runtimes)
{
	*runtimes = (struct runtimes){ 0 };
}

bool runtime_is_id(const char *text)
{
	return strspn(text, "0123456789abcdef") == GROUP_ID_LENGTH && text[GROUP_ID_LENGTH] == '\0';
}

/* --- where state is --- */

static void report_configured(const char *path, int status)
{
	if (status < 0)
		message(LOG_WARNING,
			"ContainerState \"%s\" cannot be read: %s; its containers are named by their "
			"ids until it can be read",
			path, file_strerror(status));
	else
		message(LOG_WARNING,
			"ContainerState \"%s\" has no state of containers, so its containers are "
			"named by their ids; name the directory that has \"containers\" (docker), "
			"\"*-containers\" (podman, CRI-O) or \"io.containerd.runtime.v2.task\" "
			"(containerd)",
			path);
}

static void add_configured(struct runtimes *runtimes, struct file_helper *files, bool is_start)
{
	size_t count = runtimes->configured ? runtimes->configured->count : 0;

	for (size_t i = 0; i < count; i++) {
		const char *path = runtimes->configured->item[i];
		int status = state_files_add(&runtimes->state, files, path,
					     (struct file_view){ .of_any_owner = true });

		if (is_start && status <= 0)
			report_configured(path, status);
	}
}

void runtimes_start(struct runtimes *runtimes, const struct strings *configured,
		    struct file_helper *files)
{
	runtimes->configured = configured;
	if (state_is_readable())
		add_configured(runtimes, files, true);
}

/* Takes about SEARCH_NS_MAX at most, and the wait for a file that does not answer. */
static void search_state(struct runtimes *runtimes, struct file_helper *files, uint64_t now_ns)
{
	state_files_done(&runtimes->state);
	add_configured(runtimes, files, false);
	runtime_defaults_add(&runtimes->state, files, (struct file_view){ 0 });
	runtime_processes_add(&runtimes->state, files, now_ns + SEARCH_NS_MAX);
	if (runtimes->paid_ns < now_ns)
		runtimes->paid_ns = now_ns;
	runtimes->paid_ns += (clock_ns() - now_ns) * SEARCH_SHARE;
}

/* The length of the path of its directory. */
static int state_directory_length(const struct state_file *state_file)
{
	return (int)(strrchr(state_file->before, '/') - state_file->before);
}

static bool is_same_directory(const struct state_file *a, const struct state_file *b)
{
	int length = state_directory_length(a);

	return a->view.pid == b->view.pid && length == state_directory_length(b) &&
	       !strncmp(a->before, b->before, (size_t)length);
}

void runtimes_text(const struct runtimes *runtimes, char *to, size_t size)
{
	const struct state_files *state = &runtimes->state;
	size_t length = 0;

	to[0] = '\0';
	for (size_t i = 0; i < state->count && length < size; i++) {
		const struct state_file *state_file = &state->file[i];
		char root[32] = "";

		/* Those of one directory follow each other. */
		if (i && is_same_directory(state_file, state_file - 1))
			continue;
		if (state_file->view.pid)
			snprintf(root, sizeof(root), "/proc/%d/root", state_file->view.pid);
		length += (size_t)snprintf(to + length, size - length, "%s%s%.*s", i ? ", " : "",
					   root, state_directory_length(state_file),
					   state_file->before);
	}
	if (length >= size && size > 4)
		strcpy(to + size - 4, "...");
}

void runtimes_done(struct runtimes *runtimes)
{
	state_files_done(&runtimes->state);
}

/* --- names --- */

/* The file that names the container with this id. */
static struct named_state state_of(const struct state_file *state_file, const char *id)
{
	bool is_list = !state_file->after;
	struct named_state state = {
		.format = state_file->format,
		.view = state_file->view,
		.request = {
			.size_max = is_list ? STORAGE_LIST_SIZE_MAX : STATE_SIZE_MAX,
			.wait_ms = is_list ? LIST_WAIT_MS : STATE_WAIT_MS,
			.budget = FILE_OF_ROOT,
			.owner = file_number(state_file->before),
		},
	};

	snprintf(state.path, sizeof(state.path), "%s%s%s", state_file->before, is_list ? "" : id,
		 is_list ? "" : state_file->after);
	return state;
}

/* Without the file, the owner of the pod is derived from the shape of its name. */
static void read_pod_labels(const struct state_file *state_file, struct file_helper *files,
			    struct container *container)
{
	struct named_state state = state_of(state_file, container->sandbox);

	if (runtime_is_id(container->sandbox))
		named_state_labels(&state, files, container);
}

static int find_in_state_files(enum group_kind kind, const char *id,
			       const struct state_files *state, struct file_helper *files,
			       struct container *ret_container, struct named_state *ret_state)
{
	int status = -ENOENT;

	for (size_t i = 0; i < state->count; i++) {
		const struct state_file *state_file = &state->file[i];
		int one_status;

		if (kind != GROUP_CONTAINER && !(state_file->kinds & 1U << kind))
			continue;
		*ret_state = state_of(state_file, id);
		one_status = named_state_find(ret_state, files, id, ret_container);
		if (one_status == 0) {
			read_pod_labels(state_file, files, ret_container);
			return 0;
		}
		if (helper_may_reply_later(one_status))
			status = -EAGAIN;
	}
	return status;
}

int runtime_container(enum group_kind kind, const char *id, struct runtimes *runtimes,
		      struct file_helper *files, struct container *ret_container,
		      struct named_state *ret_state)
{
	uint64_t now_ns;
	int status;

	if (!state_is_readable() || !runtime_is_id(id))
		return -ENOENT;
	status = find_in_state_files(kind, id, &runtimes->state, files, ret_container, ret_state);
	if (status == 0)
		return 0;
	now_ns = clock_ns();
	if (runtimes->paid_ns > now_ns + SEARCH_AHEAD_NS)
		return -EAGAIN;
	search_state(runtimes, files, now_ns);
	return find_in_state_files(kind, id, &runtimes->state, files, ret_container, ret_state);
}
