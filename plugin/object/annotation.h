/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ANNOTATION_H
#define EBPF_ANNOTATION_H

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdint.h>

/* A name in BTF, "" where there is none. */
const char *annotation_name(const struct btf *btf, uint32_t offset);

/* The text of the n-th tag with this prefix (counted from 0) on a program's function or a map's
 * variable, behind the prefix, or NULL. The object's, which has BTF. */
const char *annotation_of_program(const struct bpf_object *object,
				  const struct bpf_program *program, const char *prefix,
				  unsigned n);
const char *annotation_of_map(const struct bpf_object *object, const struct bpf_map *map,
			      const char *prefix, unsigned n);

/* Likewise the first such tag on a variable. */
const char *annotation_of_variable(const struct bpf_object *object, const char *name,
				   const char *prefix);
const char *annotation_on_variable(const struct btf *btf, const char *name, const char *prefix);

/* Likewise the first such tag on a member of a struct, by its number. */
const char *annotation_of_member(const struct btf *btf, uint32_t type_id, int member,
				 const char *prefix);

#endif
