/* SPDX-License-Identifier: MIT */
/*
 * From BTF to labels: which members of a map's key have LABEL tags, and of which kind.
 */
#include "label_tags.h"

#include "label_kind.h"
#include "label_parser.h"
#include "object/annotation.h"
#include "type.h"

#include <errno.h>
#include <stdio.h>

#define LABEL_TAG "label:"

static int shape_number(const struct label_parser *r, const char *member,
			const struct btf_type *type, struct label *label)
{
	bool is_enum = btf_is_any_enum(type);

	if (!is_enum && !btf_is_int(type))
		return label_bad(r, member, "this label needs an integer");
	label->size = type->size;
	if (label->size != 1 && label->size != 2 && label->size != 4 && label->size != 8)
		return label_bad(r, member, "only integers of 1, 2, 4 or 8 bytes can be labels");
	if (!is_enum && label->kind == label_kind_enum())
		return label_bad(r, member, "the label enum needs an enum, whose names it takes");
	label->is_signed = btf_is_int(type) && btf_int_encoding(type) & BTF_INT_SIGNED;
	return 0;
}

static int shape_text(const struct label_parser *r, const char *member, const struct btf_type *type,
		      struct label *label)
{
	label->size = label_text_size(r->btf, type);
	return label->size ? 0 : label_bad(r, member, "this label needs an array of char");
}

static int shape_address(const struct label_parser *r, const char *member,
			 const struct btf_type *type, struct label *label)
{
	label->size = btf_is_int(type) ? type->size : label_text_size(r->btf, type);
	if (label->size == 4 || (label->size == ADDRESS_SIZE_MAX && btf_is_array(type)))
		return 0;
	return label_bad(r, member, "an address has 4 or 16 bytes: an array of char, or a u32");
}

static int add_tagged_label(const struct label_parser *r, const char *member,
			    const struct btf_type *type, uint32_t offset, const char *word)
{
	struct label label = { .kind = label_kind(word), .offset = offset };
	int status;

	if (!label.kind) {
		char why[256];

		snprintf(why, sizeof(why), "unknown label \"%.32s\" (%s)", word,
			 label_kind_words());
		return label_bad(r, member, why);
	}
	label.is_text =
		label.kind->name_bytes && (!label.kind->name || label_text_size(r->btf, type));
	status = label.kind->is_address ? shape_address(r, member, type, &label)
		 : label.is_text        ? shape_text(r, member, type, &label)
					: shape_number(r, member, type, &label);
	if (status)
		return status;
	if (label.kind == label_kind_enum())
		status = label_read_enumerators(r, type, &label);
	status = status ?: label_add(r, member, &label);
	if (status)
		label_done(&label);
	return status;
}

static int read_members(const struct label_parser *r, uint32_t key_id, const struct btf_type *key)
{
	int status = 0;

	for (int i = 0; i < btf_vlen(key) && status == 0; i++) {
		const struct btf_member *m = &btf_members(key)[i];
		const struct btf_type *type = type_resolve(r->btf, m->type);
		const char *member = annotation_name(r->btf, m->name_off),
			   *word = annotation_of_member(r->btf, key_id, i, LABEL_TAG);
		uint32_t bits = btf_member_bit_offset(key, (uint32_t)i);

		if (!word)
			continue;
		if (!type || bits % 8 || btf_member_bitfield_size(key, (uint32_t)i))
			status = label_bad(r, member, "bit fields cannot be labels");
		else
			status = add_tagged_label(r, member, type, bits / 8, word);
	}
	return status;
}

int labels_read(struct labels *labels, const struct btf *btf, const char *map, uint32_t key_type,
		uint32_t key_size, const struct subject_tag *subject, struct error *error)
{
	const struct label_parser r = { .labels = labels, .btf = btf, .map = map, .error = error };
	int key_id = btf__resolve_type(btf, key_type);
	const struct btf_type *key = key_id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)key_id);
	const char *word = subject->label;
	int status = 0;

	*labels = (struct labels){ .key_size = key_size, .subject = -1 };
	if (!key || key_size > LABEL_KEY_SIZE_MAX)
		return error_set(error, -EINVAL,
				 "map %s: its key has no type, or more than %d bytes", map,
				 LABEL_KEY_SIZE_MAX);
	if (btf_is_any_enum(key) && !word[0])
		word = "enum";
	if (btf_is_struct(key))
		status = read_members(&r, (uint32_t)key_id, key);
	else if (word[0])
		status = add_tagged_label(&r, "itself", key, 0, word);
	if (status == 0 && labels->count == 0 && !subject->cpu)
		status = error_set(error, -EINVAL,
				   "map %s: its rows are named by their key, but no member of that "
				   "has a LABEL, nor SUBJECT a label=WORD for a key that is an "
				   "integer",
				   map);
	status = status ?: label_check_services(&r, subject);
	labels->subject = subject->cpu ? -1 : label_find_subject(labels);
	if (status)
		labels_done(labels);
	return status;
}
