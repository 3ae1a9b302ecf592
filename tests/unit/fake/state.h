/* SPDX-License-Identifier: MIT */
/*
 * Recorded state files of real container runtimes: see tests/unit/state/README.md.
 */
#ifndef TESTS_STATE_H
#define TESTS_STATE_H

#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCKER_ID "d041e1912155eb39b2dabc01b935930ad603115a942ee9858c52b10b5587caf3"
#define DOCKER_KUBERNETES_ID "2a3244d9753242d2c45d9dc4c9edf1fb79b9d1873e89a4a5ca0d3e0a28e669c4"
#define DOCKER_POD_ID "aeb8155adf56bab985340a9f17b4ed1831d999d280f74eba0e425d29fe377e6c"
#define DOCKER_SANDBOX_ID "3206212cd7fe19385a399d3bf4eb809f5f94e1305c83a7b619593a9eb274368a"
#define DOCKER_SWARM_ID "0662a4c6d2a464922302c4f914b0ea9f59d62ba0d8445cba9c0ec9b4284aad6d"
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

/* The recorded file that a runtime would have under this path, "passwd" for /etc/passwd; NULL:
 * none. */
static inline const char *recorded_at(const char *path)
{
	static const char *const files[][2] = {
		{ "/etc/passwd", "passwd" },
		{ "/var/lib/docker/containers/" DOCKER_ID "/config.v2.json", "docker.json" },
		{ "/var/lib/docker/containers/" DOCKER_KUBERNETES_ID "/config.v2.json",
		  "docker_kubernetes.json" },
		{ "/var/lib/docker/containers/" DOCKER_POD_ID "/config.v2.json",
		  "docker_pod.json" },
		{ "/var/lib/docker/containers/" DOCKER_SANDBOX_ID "/config.v2.json",
		  "docker_sandbox.json" },
		{ "/var/lib/docker/containers/" DOCKER_SWARM_ID "/config.v2.json",
		  "docker_swarm.json" },
		{ "/var/lib/containers/storage/vfs-containers/containers.json", "podman.json" },
		{ "//.local/share/containers/storage/vfs-containers/containers.json",
		  "podman_rootless.json" },
		{ RECORDED_BUNDLES "k8s.io/" CONTAINERD_ID "/config.json", "containerd.json" },
		{ "/run/containers/storage/overlay-containers/" CRIO_ID "/userdata/config.json",
		  "crio.json" },
		{ "/run/containers/storage/overlay-containers/" CRIO_SANDBOX_ID
		  "/userdata/config.json",
		  "crio_sandbox.json" },
	};

	for (size_t i = 0; i < COUNT_OF(files); i++)
		if (!strcmp(path, files[i][0]))
			return files[i][1];
	return NULL;
}

#endif
