/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CONTAINER_H
#define EBPF_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>

#define CONTAINER_NAME_MAX 256 /* what is longer is cut */

/* What a runtime calls a container. Without a pod these two are "". */
struct container {
	char name[CONTAINER_NAME_MAX];
	char pod[CONTAINER_NAME_MAX];
	char space[CONTAINER_NAME_MAX]; /* the pod's namespace */
	bool is_sandbox;                /* it holds a pod's namespaces, and does nothing */
};

#define CONTAINER_TEXT_MAX (3 * CONTAINER_NAME_MAX)

/* Takes k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT apart, as the kubelet wants it of docker and CRI-O has it
 * too; none of the names has an underscore. false: it is not such a name. */
bool container_parse(struct container *container, const char *text);

/* NAME, or NAMESPACE_POD_NAME. */
void container_text(const struct container *container, char to[CONTAINER_TEXT_MAX]);

/* Takes away what is another each time that a container is made anew, so that its series go on:
 * the ends of pods of a Deployment, DaemonSet, Job or CronJob (web-7d9f8b6c5d-x2x4z: web), and a UUID
 * (of a Nomad allocation). */
void container_settle(struct container *container);

#endif
