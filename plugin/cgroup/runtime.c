/* SPDX-License-Identifier: MIT */
/*
 * Names of containers, from the state files of their runtimes in the default directories; no socket is used.
 */
#include "runtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATE_WAIT_MS 200
#define CONTAINERD "/io.containerd.runtime.v2.task/"
#define STORAGE "/var/lib/containers/storage/"

/* Where a runtime keeps state: a file BEFORE ID AFTER for each container, or one file BEFORE for all of them. */
struct state_source {
	enum group_kind kind;
	enum state_format format;
	const char *before, *after;
};

static const struct state_source state_sources[] = {
	{ GROUP_CONTAINERD, STATE_BUNDLE, "/run/containerd" CONTAINERD "k8s.io/", "/config.json" },
	{ GROUP_CONTAINERD, STATE_BUNDLE, "/run/k3s/containerd" CONTAINERD "k8s.io/",
	  "/config.json" },
	{ GROUP_CONTAINERD, STATE_BUNDLE,
	  "/var/snap/microk8s/common/run/containerd" CONTAINERD "k8s.io/", "/config.json" },
	{ GROUP_CONTAINERD, STATE_BUNDLE, "/run/containerd" CONTAINERD "default/", "/config.json" },
	{ GROUP_DOCKER, STATE_DOCKER, "/var/lib/docker/containers/", "/config.v2.json" },
	{ GROUP_DOCKER, STATE_DOCKER, "/var/snap/docker/common/var-lib-docker/containers/",
	  "/config.v2.json" },
	{ GROUP_CRIO, STATE_BUNDLE, "/run/containers/storage/overlay-containers/",
	  "/userdata/config.json" },
	{ GROUP_PODMAN, STATE_STORAGE, STORAGE "overlay-containers/containers.json", NULL },
	{ GROUP_PODMAN, STATE_STORAGE, STORAGE "overlay-containers/volatile-containers.json",
	  NULL },
	{ GROUP_PODMAN, STATE_STORAGE, STORAGE "btrfs-containers/containers.json", NULL },
	{ GROUP_PODMAN, STATE_STORAGE, STORAGE "btrfs-containers/volatile-containers.json", NULL },
	{ GROUP_PODMAN, STATE_STORAGE, STORAGE "vfs-containers/containers.json", NULL },
	{ GROUP_PODMAN, STATE_STORAGE, STORAGE "vfs-containers/volatile-containers.json", NULL },
	/* If transient_store is set. */
	{ GROUP_PODMAN, STATE_STORAGE,
	  "/run/containers/storage/overlay-containers/volatile-containers.json", NULL },
};

bool runtime_is_id(const char *text)
{
	return strspn(text, "0123456789abcdef") == GROUP_ID_LENGTH && text[GROUP_ID_LENGTH] == '\0';
}

int state_file_read(const struct state_file *state, struct file_helper *files,
		    struct file *ret_file)
{
	struct file_request request = state->request;
	int status;

	request.path = state->path;
	status = file_read(files, &request, ret_file);
	if (status || !request.user || ret_file->owner == request.user)
		return status;
	free(ret_file->bytes);
	return -EPERM;
}

/* Also sets *ret_state; the caller frees the bytes. 0; -ENOENT: there is no such file; -EAGAIN: it could not be read
 * in time. */
static int read_state_of(const struct state_source *state_source, const char *id,
			 struct file_helper *files, struct state_file *ret_state,
			 struct file *ret_file)
{
	int status;

	*ret_state = (struct state_file){
		.format = state_source->format,
		.request = {
			.size_max = STATE_SIZE_MAX,
			.wait_ms = STATE_WAIT_MS,
			.budget = FILE_OF_ROOT,
			.owner = file_number(state_source->before),
		},
	};
	snprintf(ret_state->path, sizeof(ret_state->path), "%s%s%s", state_source->before,
		 state_source->after ? id : "", state_source->after ?: "");
	status = state_file_read(ret_state, files, ret_file);
	if (status)
		return helper_may_reply_later(status) ? -EAGAIN : -ENOENT;
	ret_state->request.unless = ret_file->stamp;
	return 0;
}

/* Without the file, the owner of the pod is derived from the shape of its name. */
static void read_pod_labels(const struct state_source *state_source, struct file_helper *files,
			    struct container *container)
{
	struct state_file state;
	struct file file;

	if (!runtime_is_id(container->sandbox) ||
	    read_state_of(state_source, container->sandbox, files, &state, &file) != 0)
		return;
	state_parse_sandbox(state_source->format, file.bytes, file.size, container);
	free(file.bytes);
}

static int read_state_source(const struct state_source *state_source, const char *id,
			     struct file_helper *files, struct container *ret_container,
			     struct state_file *ret_state)
{
	struct file file;
	int status = read_state_of(state_source, id, files, ret_state, &file);
	bool found;

	if (status)
		return status;
	found = state_parse(state_source->format, file.bytes, file.size, id, ret_container);
	free(file.bytes);
	if (found)
		read_pod_labels(state_source, files, ret_container);
	return found ? 0 : -ENOENT;
}

int runtime_container(enum group_kind kind, const char *id, struct file_helper *files,
		      struct container *ret_container, struct state_file *ret_state)
{
	int status = -ENOENT;

	if (!state_is_readable() || !runtime_is_id(id))
		return -ENOENT;
	for (size_t i = 0; i < sizeof(state_sources) / sizeof(*state_sources); i++) {
		int one_status;

		if (kind != GROUP_CONTAINER && kind != state_sources[i].kind)
			continue;
		one_status =
			read_state_source(&state_sources[i], id, files, ret_container, ret_state);
		if (one_status == 0)
			return 0;
		if (one_status == -EAGAIN)
			status = -EAGAIN;
	}
	return status;
}
