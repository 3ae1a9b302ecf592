/* SPDX-License-Identifier: MIT */
/*
 * Recorded state files of real container runtimes: see tests/unit/state/README.md.
 */
#ifndef TESTS_STATE_H
#define TESTS_STATE_H

#include "tests/unit/testing.h"

#include "plugin/cgroup/state.h"
#include "plugin/helper/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCKER_ID "d041e1912155eb39b2dabc01b935930ad603115a942ee9858c52b10b5587caf3"
#define DOCKER_KUBERNETES_ID "2a3244d9753242d2c45d9dc4c9edf1fb79b9d1873e89a4a5ca0d3e0a28e669c4"
#define DOCKER_POD_ID "aeb8155adf56bab985340a9f17b4ed1831d999d280f74eba0e425d29fe377e6c"
#define DOCKER_SANDBOX_ID "3206212cd7fe19385a399d3bf4eb809f5f94e1305c83a7b619593a9eb274368a"
#define DOCKER_SWARM_ID "0662a4c6d2a464922302c4f914b0ea9f59d62ba0d8445cba9c0ec9b4284aad6d"
#define DOCKER_USERNS_ID "de547ea8219804163e8718f3944c975716b5c909dcb5f5883e4dbcff07db2441"
#define PODMAN_ID "aa287a7d78c1f84040edf472fdebec76c9372d94322b033abd51b7db7c917e65"
#define PODMAN_ROOTLESS_ID "ad9c90f8c3fecc1fc4d3fc52f9209f0712fd8e9d910f2a378b05c2aa021b1ffa"
#define PODMAN_SHORT_ID "0f3cc7fa97b030b3d6e2d2e5dc7658eef867cd4bed60236fb0fed03845b6151c"
#define CONTAINERD_ID "12819fbfe0be19e7bc6c4bbcd0d22a92bd2eb3206c40e51f9705257cd2544cd6"
#define CRIO_ID "5d3c8a1f0b7e4296a8c1d2e3f4051627384950617283940516273849506a7b8c"

/* The bytes of such a file with a NUL appended; the caller frees them. */
static inline char *recorded(const char *name, size_t *ret_size)
{
	const char *source = getenv("abs_top_srcdir") ?: ".";
	char path[4096], *bytes = calloc(1, 1 << 16);
	FILE *file;

	snprintf(path, sizeof(path), "%s/tests/unit/state/%s", source, name);
	file = fopen(path, "r");
	if (!bytes || !file) {
		perror(path);
		exit(1);
	}
	*ret_size = fread(bytes, 1, (1 << 16) - 1, file);
	fclose(file);
	return bytes;
}

#define CRIO_SANDBOX_ID "aa00c8a1f0b7e4296a8c1d2e3f4051627384950617283940516273849506a7b8"

#define RECORDED_BUNDLES "/run/containerd/io.containerd.runtime.v2.task/"

/* What the runtimes would have under these paths, and "passwd" for /etc/passwd. */
static const char *const recorded_files[][2] = {
	{ "/etc/passwd", "passwd" },
	{ "/var/lib/docker/containers/" DOCKER_ID "/config.v2.json", "docker.json" },
	{ "/var/lib/docker/containers/" DOCKER_KUBERNETES_ID "/config.v2.json",
	  "docker_kubernetes.json" },
	{ "/var/lib/docker/containers/" DOCKER_POD_ID "/config.v2.json", "docker_pod.json" },
	{ "/var/lib/docker/containers/" DOCKER_SANDBOX_ID "/config.v2.json",
	  "docker_sandbox.json" },
	{ "/var/lib/docker/containers/" DOCKER_SWARM_ID "/config.v2.json", "docker_swarm.json" },
	{ "/var/lib/docker/165536.165536/containers/" DOCKER_USERNS_ID "/config.v2.json",
	  "docker_userns.json" },
	{ "/var/lib/containers/storage/vfs-containers/containers.json", "podman.json" },
	{ "//.local/share/containers/storage/vfs-containers/containers.json",
	  "podman_rootless.json" },
	{ RECORDED_BUNDLES "k8s.io/" CONTAINERD_ID "/config.json", "containerd.json" },
	{ "/run/containers/storage/overlay-containers/" CRIO_ID "/userdata/config.json",
	  "crio.json" },
	{ "/run/containers/storage/overlay-containers/" CRIO_SANDBOX_ID "/userdata/config.json",
	  "crio_sandbox.json" },
};

struct parsed_state {
	const char *id;
	struct container *container;
	bool is_found;
};

static inline void note_parsed(void *of, const char *id, const struct container *container)
{
	struct parsed_state *parsed = of;

	if (id[0] && strcmp(id, parsed->id) != 0)
		return;
	*parsed->container = *container;
	parsed->is_found = true;
}

/* The container with this id in a file or entry. */
static inline bool parse_state(enum state_format format, const char *text, size_t size,
			       const char *id, struct container *ret_container)
{
	struct parsed_state parsed = { .id = id, .container = ret_container };

	state_each(format, text, size, note_parsed, &parsed);
	return parsed.is_found;
}

/* The name that the path has below the directory, up to its next slash; 0: the path is not below it. */
static inline size_t name_below(const char *directory, const char *path)
{
	size_t length = strlen(directory);

	if (strncmp(path, directory, length) != 0 || path[length] != '/')
		return 0;
	return strcspn(path + length + 1, "/");
}

/* As file_read() lists a directory. A name may occur twice. */
static inline int recorded_names(const char *directory, struct file *ret_file)
{
	char *bytes = calloc(1, 4096), *at = bytes;

	for (size_t i = 0; bytes && i < COUNT_OF(recorded_files); i++) {
		const char *path = recorded_files[i][0];
		size_t length = name_below(directory, path);

		if (length)
			at += sprintf(at, "%.*s", (int)length, path + strlen(directory) + 1) + 1;
	}
	*ret_file = (struct file){ .bytes = bytes, .size = (size_t)(at - bytes) };
	if (at > bytes)
		return 0;
	free(bytes);
	return -ENOENT;
}

/* As file_read() reads the text of a file, which is the caller's if there is no stream. */
static inline int recorded_text(const struct file_request *request, char *text, size_t size,
				struct file *ret_file)
{
	*ret_file = (struct file){ .bytes = text, .size = size };
	if (!request->stream.receive)
		return 0;
	request->stream.receive(request->stream.of, NULL, 0);
	for (size_t i = 0; i < size; i++)
		request->stream.receive(request->stream.of, text + i, 1);
	free(text);
	ret_file->bytes = NULL;
	return 0;
}

/* Reads as file_read() where only the recorded files are. */
static inline int recorded_read(const struct file_request *request, struct file *ret_file)
{
	size_t size;

	if (request->is_directory)
		return recorded_names(request->path, ret_file);
	for (size_t i = 0; i < COUNT_OF(recorded_files); i++)
		if (!strcmp(request->path, recorded_files[i][0])) {
			char *text = recorded(recorded_files[i][1], &size);

			return recorded_text(request, text, size, ret_file);
		}
	return -ENOENT;
}

#endif
