/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CONTAINER_H
#define EBPF_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>

#define CONTAINER_NAME_MAX 256 /* longer names are cut */

/* A container's name in its runtime; pod and space are "" without a pod. */
struct container {
	char name[CONTAINER_NAME_MAX];
	char pod[CONTAINER_NAME_MAX];
	char space[CONTAINER_NAME_MAX]; /* the pod's namespace */
	bool is_sandbox;                /* it only holds the namespaces of a pod */
};

#define CONTAINER_TEXT_MAX (3 * CONTAINER_NAME_MAX)

/* Parses k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT, the kubelet's names in docker and CRI-O; none of the names
 * contains an underscore. false: it is no such name. */
bool container_parse(struct container *container, const char *text);

/* NAME, or NAMESPACE_POD_NAME. */
void container_text(const struct container *container, char to[CONTAINER_TEXT_MAX]);

/* Strips what changes each time that a container is created again, so that its series continue: the suffixes
 * of pods of a Deployment, DaemonSet, Job or CronJob (web-7d9f8b6c5d-x2x4z: web), and a UUID (of a Nomad
 * allocation). */
void container_settle(struct container *container);

#endif
