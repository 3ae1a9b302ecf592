/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CONTAINER_H
#define EBPF_CONTAINER_H

#include "pod.h"

#include <stdbool.h>
#include <stddef.h>

#define CONTAINER_NAME_MAX POD_TEXT_MAX /* longer names are cut */
#define CONTAINER_ID_MAX 65

/* A container's name in its runtime; pod and space are "" without a pod. */
struct container {
	char name[CONTAINER_NAME_MAX];
	char pod[CONTAINER_NAME_MAX];
	char space[CONTAINER_NAME_MAX]; /* the pod's namespace */
	char given
		[CONTAINER_NAME_MAX]; /* the whole name, if labels say which part is generated; else "" */
	bool is_sandbox;              /* it only holds the namespaces of a pod */
	char sandbox[CONTAINER_ID_MAX]; /* of the pod, whose state has the pod's labels; "": none */
	struct pod_labels labels;       /* of the pod */
	enum workload workload;
};

#define CONTAINER_TEXT_MAX (3 * CONTAINER_NAME_MAX)

/* Parses k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT, the kubelet's names in docker and CRI-O; none of the names
 * contains an underscore. false: it is no such name. */
bool container_parse(struct container *container, const char *text);

/* NAME, or NAMESPACE_POD_NAME. */
void container_text(const struct container *container, char to[CONTAINER_TEXT_MAX]);

/* Strips what changes each time that a container is created again, so that its series continue: what is generated
 * of a pod's name, and a UUID (of a Nomad allocation). Sets the workload, unless labels have. */
void container_settle(struct container *container);

#endif
