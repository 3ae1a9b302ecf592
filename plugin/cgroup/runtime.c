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

/* The file that names the container with this id. */
static struct named_state state_of(const struct state_source *state_source, const char *id)
{
	struct named_state state = {
		.format = state_source->format,
		.request = {
			.size_max = STATE_SIZE_MAX,
			.wait_ms = STATE_WAIT_MS,
			.budget = FILE_OF_ROOT,
			.owner = file_number(state_source->before),
		},
	};

	snprintf(state.path, sizeof(state.path), "%s%s%s", state_source->before,
		 state_source->after ? id : "", state_source->after ?: "");
	return state;
}

/* Without the file, the owner of the pod is derived from the shape of its name. */
static void read_pod_labels(const struct state_source *state_source, struct file_helper *files,
			    struct container *container)
{
	struct named_state state = state_of(state_source, container->sandbox);

	if (runtime_is_id(container->sandbox))
		named_state_labels(&state, files, container);
}

static int read_state_source(const struct state_source *state_source, const char *id,
			     struct file_helper *files, struct container *ret_container,
			     struct named_state *ret_state)
{
	int status;

	*ret_state = state_of(state_source, id);
	status = named_state_find(ret_state, files, id, ret_container);
	if (status)
		return helper_may_reply_later(status) ? -EAGAIN : -ENOENT;
	read_pod_labels(state_source, files, ret_container);
	return 0;
}

int runtime_container(enum group_kind kind, const char *id, struct file_helper *files,
		      struct container *ret_container, struct named_state *ret_state)
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
