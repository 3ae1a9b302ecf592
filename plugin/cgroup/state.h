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

/* Files in which runtimes say what they call a container. */
enum state_format {
	STATE_DOCKER, /* config.v2.json: of one container */
	STATE_BUNDLE, /* config.json of an OCI bundle, by the annotations of containerd and CRI-O */
	STATE_STORAGE, /* containers.json of containers/storage: all of podman's */
};

/* Is there a library to read them with? */
bool state_is_readable(void);

/* What a file says of the container with this id; false: nothing, or it is not JSON, or larger than
 * the bounds above. */
bool state_parse(enum state_format format, const char *bytes, size_t size, const char *id,
		 struct container *ret_container);

#endif
