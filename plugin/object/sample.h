/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SAMPLE_H
#define EBPF_SAMPLE_H

#include "object.h"
#include "util/message.h"

#include <bpf/libbpf.h>

/* Returns the frequency in Hz that the program's SAMPLE tag wants; 0: it has no tag. */
unsigned sample_hz(const struct object *object, const struct bpf_program *program);

/* Checks that the SAMPLE tags of an object are valid and on iterators. Returns 0 or -EINVAL, and
 * the error names the program. */
int sample_check(const struct object *object, struct error *error);

#endif
