/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ANNOTATION_H
#define EBPF_ANNOTATION_H

#include <bpf/libbpf.h>

/* The text of the n-th tag with this prefix (counted from 0) on a program's function or a map's
 * variable, behind the prefix, or NULL. The object's, which has BTF. */
const char *annotation_of_program(const struct bpf_object *object,
				  const struct bpf_program *program, const char *prefix,
				  unsigned n);
const char *annotation_of_map(const struct bpf_object *object, const struct bpf_map *map,
			      const char *prefix, unsigned n);

#endif
