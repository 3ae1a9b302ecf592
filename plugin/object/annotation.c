/* SPDX-License-Identifier: MIT */
/*
 * BTF declaration tags on functions, variables and members: what the author of an object says about
 * them.
 */
#include "annotation.h"

#include <bpf/btf.h>
#include <string.h>

const char *annotation_name(const struct btf *btf, uint32_t offset)
{
	const char *name = btf__name_by_offset(btf, offset);

	return name ? name : "";
}

/* Finds the text of a tag on a function or a variable (`kind` is that of BTF). */
static const char *text_on(const struct btf *btf, uint16_t kind, const char *name,
			   const char *prefix, unsigned n)
{
	uint32_t count = btf__type_cnt(btf);

	for (uint32_t id = 1; id < count; id++) {
		const struct btf_type *tag = btf__type_by_id(btf, id);
		const struct btf_type *on;
		const char *text;

		if (!btf_is_decl_tag(tag))
			continue;
		text = annotation_name(btf, tag->name_off);
		on = btf__type_by_id(btf, tag->type);
		if (strncmp(text, prefix, strlen(prefix)) == 0 && on && btf_kind(on) == kind &&
		    !strcmp(annotation_name(btf, on->name_off), name) && n-- == 0)
			return text + strlen(prefix);
	}
	return NULL;
}

const char *annotation_of_program(const struct bpf_object *object,
				  const struct bpf_program *program, const char *prefix, unsigned n)
{
	return text_on(bpf_object__btf(object), BTF_KIND_FUNC, bpf_program__name(program), prefix,
		       n);
}

const char *annotation_of_map(const struct bpf_object *object, const struct bpf_map *map,
			      const char *prefix, unsigned n)
{
	return text_on(bpf_object__btf(object), BTF_KIND_VAR, bpf_map__name(map), prefix, n);
}

const char *annotation_of_variable(const struct bpf_object *object, const char *name,
				   const char *prefix)
{
	return annotation_on_variable(bpf_object__btf(object), name, prefix);
}

const char *annotation_on_variable(const struct btf *btf, const char *name, const char *prefix)
{
	return text_on(btf, BTF_KIND_VAR, name, prefix, 0);
}

const char *annotation_of_member(const struct btf *btf, uint32_t type_id, int member,
				 const char *prefix)
{
	uint32_t count = btf__type_cnt(btf);

	for (uint32_t id = 1; id < count; id++) {
		const struct btf_type *tag = btf__type_by_id(btf, id);
		const char *text;

		if (!btf_is_decl_tag(tag) || tag->type != type_id ||
		    btf_decl_tag(tag)->component_idx != member)
			continue;
		text = annotation_name(btf, tag->name_off);
		if (!strncmp(text, prefix, strlen(prefix)))
			return text + strlen(prefix);
	}
	return NULL;
}
