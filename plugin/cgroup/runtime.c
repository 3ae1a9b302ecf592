/* SPDX-License-Identifier: MIT */
/*
 * Where container runtimes keep the state of their containers, by default; none is asked over a socket.
 */
#include "runtime.h"

#include "state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MS 200
#define CONTAINERD "/io.containerd.runtime.v2.task/"
#define STORAGE "/var/lib/containers/storage/"

/* A file of one container is called BEFORE, the id, AFTER; one of all of them BEFORE alone. */
struct source {
	enum group_kind kind;
	enum state_format format;
	const char *before, *after;
};

static const struct source sources[] = {
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
	/* With transient_store. */
	{ GROUP_PODMAN, STATE_STORAGE,
	  "/run/containers/storage/overlay-containers/volatile-containers.json", NULL },
};

bool runtime_is_id(const char *text)
{
	return strspn(text, "0123456789abcdef") == GROUP_ID_LENGTH && text[GROUP_ID_LENGTH] == '\0';
}

static int read_source(const struct source *source, const char *id, struct file_reader *files,
		       struct container *ret_container)
{
	char path[256];
	const struct file_request request = {
		.path = path,
		.size_max = STATE_SIZE_MAX,
		.wait_ms = WAIT_MS,
		.share = FILE_OF_ROOT,
		.whose = file_number(source->before),
	};
	struct file file;
	bool found;
	int status;

	snprintf(path, sizeof(path), "%s%s%s", source->before, source->after ? id : "",
		 source->after ?: "");
	status = file_read(files, &request, &file);
	if (status)
		return status == -ETIMEDOUT || status == -EBUSY ? -EAGAIN : -ENOENT;
	found = state_parse(source->format, file.bytes, file.size, id, ret_container);
	free(file.bytes);
	return found ? 0 : -ENOENT;
}

int runtime_container(enum group_kind kind, const char *id, struct file_reader *files,
		      struct container *ret_container)
{
	int status = -ENOENT;

	if (!state_is_readable() || !runtime_is_id(id))
		return -ENOENT;
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
		int answer;

		if (kind != GROUP_CONTAINER && kind != sources[i].kind)
			continue;
		answer = read_source(&sources[i], id, files, ret_container);
		if (answer == 0)
			return 0;
		if (answer == -EAGAIN)
			status = -EAGAIN;
	}
	return status;
}
