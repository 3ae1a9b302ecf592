/* SPDX-License-Identifier: MIT */
#ifndef EBPF_OVER_H
#define EBPF_OVER_H

#include "object.h"
#include "util/message.h"

#include <bpf/libbpf.h>

/* Iterators over a map: programs with an OVER tag, see bpf/lib/metric.bpf.h. */

/* Does each program that will be loaded, and walks over a map, say which one? -EINVAL: its author
 * has made a mistake, which the error tells. */
int over_check(const struct object *object, struct error *error);

/* Attaches a program of a loaded object that walks over a map. NULL: why not says errno, -EACCES
 * that the program reads more of a key or value than the map has. */
struct bpf_link *over_attach(const struct object *object, const struct bpf_program *program);

/* Does it walk over a map? */
bool over_is(const struct bpf_program *program);

#endif
