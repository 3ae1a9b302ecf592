/* SPDX-License-Identifier: MIT */
#ifndef EBPF_POD_H
#define EBPF_POD_H

#include "workload.h"

#include <stdbool.h>
#include <stddef.h>

#define POD_TEXT_MAX 256 /* of names and labels; longer ones are cut */

/* What the labels and annotations of a pod say about its name. */
struct pod_labels {
	bool are_known; /* the runtime keeps them */
	bool is_fixed;  /* the name is not generated */
	bool is_owned;  /* an owner has generated the last part of the name */
	char template_hash[POD_TEXT_MAX];
	char job[POD_TEXT_MAX];
};

#define POD_CONFIG_SOURCE \
	"kubernetes.io/config.source" /* an annotation: "file" of a static pod, or "api" */

/* Notes a label of the pod with this name, or POD_CONFIG_SOURCE. */
void pod_label_note(struct pod_labels *labels, const char *pod, const char *key, const char *value);

/* Strips what is generated from the name of a pod (web-7d9f8b6c5d-x2x4z: web; backup-28934512-x2x4z: backup):
 * by its labels, or by the name's shape if these are unknown. An Indexed Job keeps its index. */
enum workload pod_settle(char pod[POD_TEXT_MAX], const struct pod_labels *labels);

#endif
