/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SAMPLE_H
#define EBPF_SAMPLE_H

#include "object.h"
#include "util/message.h"

#include <bpf/libbpf.h>

/* How often a program wants to be run a second, by its SAMPLE tag; 0: it has none. */
unsigned sample_hz(const struct object *object, const struct bpf_program *program);

/* Are the SAMPLE tags of an object right, and on iterators? -EINVAL: the error names the one that
 * is not. */
int sample_check(const struct object *object, struct error *error);

#endif
