/* SPDX-License-Identifier: MIT */
#ifndef EBPF_STATE_H
#define EBPF_STATE_H

#include "container.h"

#include <stdbool.h>
#include <stddef.h>

#define STATE_SIZE_MAX (1 << 20) /* bytes of a file */
#define STATE_DEPTH_MAX 32
#define STATE_NESTS_MAX 16384   /* objects and arrays */
#define STATE_VALUES_MAX 131072 /* in them */

/* Formats of files in which runtimes name their containers. */
enum state_format {
	STATE_DOCKER, /* config.v2.json: of one container */
	STATE_BUNDLE, /* config.json of an OCI bundle, by the annotations of containerd and CRI-O */
	STATE_STORAGE, /* an entry of containers.json of containers/storage (podman) */
};

/* Was the plugin built with jansson, which parses them? */
bool state_is_readable(void);

/* Gets each container that a file names, with its id; "": the file is of one container. */
typedef void state_visitor(void *of, const char *id, const struct container *container);

/* Visits the containers of a file or of an entry: none if it is no JSON or exceeds the bounds above. */
void state_each(enum state_format format, const char *bytes, size_t size, state_visitor *visit,
		void *of);

/* What the labels of a pod say, in the state of its sandbox, for a container of it. */
void state_parse_sandbox(enum state_format format, const char *bytes, size_t size,
			 struct container *container);

#endif
