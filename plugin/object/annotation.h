/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ANNOTATION_H
#define EBPF_ANNOTATION_H

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdint.h>

/* Returns a name in BTF, "" if there is none. */
const char *annotation_name(const struct btf *btf, uint32_t offset);

/* Return the text, behind the prefix, of the n-th tag (from 0) that has this prefix, on a program's
 * function or a map's variable; NULL: there is none. The text is the object's, which must have
 * BTF. */
const char *annotation_of_program(const struct bpf_object *object,
				  const struct bpf_program *program, const char *prefix,
				  unsigned n);
const char *annotation_of_map(const struct bpf_object *object, const struct bpf_map *map,
			      const char *prefix, unsigned n);

/* The same, for the first such tag on a variable. */
const char *annotation_of_variable(const struct bpf_object *object, const char *name,
				   const char *prefix);
const char *annotation_on_variable(const struct btf *btf, const char *name, const char *prefix);

/* The same, for the first such tag on a member (by index) of a struct. */
const char *annotation_of_member(const struct btf *btf, uint32_t type_id, int member,
				 const char *prefix);

#endif
