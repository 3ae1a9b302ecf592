/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ITER_MAP_H
#define EBPF_ITER_MAP_H

#include "object.h"
#include "util/message.h"

#include <bpf/libbpf.h>

/* Iterators over a map: programs with an ITER_MAP tag, see collectd-ebpf-objects(7). */

/* Checks that each program that will be loaded has an ITER_MAP tag if and only if it iterates over
 * a map, and that the map fits. Returns 0 or -EINVAL, and the error says what its author has to
 * change. */
int iter_map_check(const struct object *object, struct error *error);

/* Attaches an iterator over a map of a loaded object. NULL: failed, see errno; EACCES: the program
 * reads more of a key or value than the map has. */
struct bpf_link *iter_map_attach(const struct object *object, const struct bpf_program *program);

/* Does the program iterate over a map? */
bool program_iterates_map(const struct bpf_program *program);

#endif
