/* SPDX-License-Identifier: MIT */
/*
 * Labels: which members of a map's key name what a row stands for, and how.
 */
#include "label_reader.h"

#include "config/config.h"
#include "config/name.h"
#include "label_kind.h"
#include "object/annotation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_TAG "label:"
#define ENUMERATORS_MAX 4096

static const struct btf_type *resolve(const struct btf *btf, uint32_t id)
{
	int resolved = btf__resolve_type(btf, id);

	return resolved < 0 ? NULL : btf__type_by_id(btf, (uint32_t)resolved);
}

int label_bad(const struct label_reader *r, const char *member, const char *why)
{
	return error_set(r->error, -EINVAL, "map %s, member %s of the key: %s", r->map, member,
			 why);
}

static int by_value(const void *left, const void *right)
{
	const struct enumerator *a = left, *b = right;

	return a->value < b->value ? -1 : a->value > b->value;
}

static uint64_t enumerator_value(const struct btf_type *type, int i)
{
	if (btf_is_enum64(type))
		return btf_enum64_value(btf_enum64(type) + i);
	return btf_kflag(type) ? (uint64_t)(int64_t)btf_enum(type)[i].val
			       : (uint32_t)btf_enum(type)[i].val;
}

int label_read_enumerators(const struct label_reader *r, const struct btf_type *type,
			   struct label *label)
{
	int count = btf_vlen(type);

	label->is_signed = btf_kflag(type);
	if (count > ENUMERATORS_MAX)
		return error_set(r->error, -E2BIG, "map %s: an enum of more than %d names", r->map,
				 ENUMERATORS_MAX);
	label->enumerators = calloc((size_t)count + 1, sizeof(*label->enumerators));
	if (!label->enumerators)
		return error_set(r->error, -ENOMEM, "map %s: no memory", r->map);
	for (int i = 0; i < count; i++) {
		uint32_t name = btf_is_enum64(type) ? btf_enum64(type)[i].name_off
						    : btf_enum(type)[i].name_off;
		struct enumerator *enumerator = &label->enumerators[i];

		enumerator->value = enumerator_value(type, i);
		snprintf(enumerator->name, sizeof(enumerator->name), "%s",
			 annotation_name(r->btf, name));
	}
	label->enumerator_count = (size_t)count;
	qsort(label->enumerators, (size_t)count, sizeof(*label->enumerators), by_value);
	return 0;
}

uint32_t label_text_size(const struct btf *btf, const struct btf_type *type)
{
	const struct btf_type *element =
		btf_is_array(type) ? resolve(btf, btf_array(type)->type) : NULL;

	return element && btf_is_int(element) && element->size == 1 ? btf_array(type)->nelems : 0;
}

static int add_number(const struct label_reader *r, const char *member, const struct btf_type *type,
		      struct label *label)
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

static int add_text(const struct label_reader *r, const char *member, const struct btf_type *type,
		    struct label *label)
{
	label->size = label_text_size(r->btf, type);
	return label->size ? 0 : label_bad(r, member, "this label needs an array of char");
}

static int add_address(const struct label_reader *r, const char *member,
		       const struct btf_type *type, struct label *label)
{
	label->size = btf_is_int(type) ? type->size : label_text_size(r->btf, type);
	if (label->size == 4 || (label->size == ADDRESS_SIZE_MAX && btf_is_array(type)))
		return 0;
	return label_bad(r, member, "an address has 4 or 16 bytes: an array of char, or a u32");
}

int label_add(const struct label_reader *r, const char *member, const struct label *label)
{
	struct labels *labels = r->labels;

	if (labels->count == LABELS_MAX)
		return error_set(r->error, -E2BIG, "map %s: a key has %d labels at most", r->map,
				 LABELS_MAX);
	if ((uint64_t)label->offset + label->size > labels->key_size)
		return label_bad(r, member, "lies outside of the key");
	labels->label[labels->count++] = *label;
	return 0;
}

static int add_label(const struct label_reader *r, const char *member, const struct btf_type *type,
		     uint32_t offset, const char *word)
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
	status = label.kind->is_address ? add_address(r, member, type, &label)
		 : label.is_text        ? add_text(r, member, type, &label)
					: add_number(r, member, type, &label);
	if (status)
		return status;
	if (label.kind == label_kind_enum())
		status = label_read_enumerators(r, type, &label);
	status = status ?: label_add(r, member, &label);
	if (status)
		label_done(&label);
	return status;
}

static int read_members(const struct label_reader *r, uint32_t key_id, const struct btf_type *key)
{
	int status = 0;

	for (int i = 0; i < btf_vlen(key) && status == 0; i++) {
		const struct btf_member *m = &btf_members(key)[i];
		const struct btf_type *type = resolve(r->btf, m->type);
		const char *member = annotation_name(r->btf, m->name_off),
			   *word = annotation_of_member(r->btf, key_id, i, LABEL_TAG);
		uint32_t bits = btf_member_bit_offset(key, (uint32_t)i);

		if (!word)
			continue;
		if (!type || bits % 8 || btf_member_bitfield_size(key, (uint32_t)i))
			status = label_bad(r, member, "bit fields cannot be labels");
		else
			status = add_label(r, member, type, bits / 8, word);
	}
	return status;
}

/* The service, else the first label that names a thing; the others follow in the type instance. */
int label_find_subject(const struct labels *labels)
{
	int found = -1;

	for (int i = (int)labels->count - 1; i >= 0; i--)
		if (labels->label[i].kind == label_kind_service())
			return i;
		else if (labels->label[i].kind->is_subject)
			found = i;
	return found;
}

/* A service is in the plugin instance, where there is room for one. */
int label_check_services(const struct label_reader *r, const struct subject_tag *subject)
{
	size_t services = 0;

	for (size_t i = 0; i < r->labels->count; i++)
		services += r->labels->label[i].kind == label_kind_service();
	if (services <= !subject->cpu)
		return 0;
	return error_set(r->error, -EINVAL,
			 "map %s: a key has one label service at most, and none where its %s",
			 r->map,
			 subject->is_described ? "Table block has EachCpu true"
					       : "SUBJECT has the word cpu");
}

int labels_read(struct labels *labels, const struct btf *btf, const char *map, uint32_t key_type,
		uint32_t key_size, const struct subject_tag *subject, struct error *error)
{
	const struct label_reader r = { .labels = labels, .btf = btf, .map = map, .error = error };
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
		status = add_label(&r, "itself", key, 0, word);
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

void labels_use_names(struct labels *labels, const struct label_names *names)
{
	for (size_t i = 0; i < labels->count; i++) {
		struct label *label = &labels->label[i];

		if (label->kind->table)
			names->want(names->tables, label->kind->table);
		label->names = names;
	}
}

/* Aligned or not. */
uint64_t label_value(const struct label *label, const unsigned char *key)
{
	bool is_big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != label->is_swapped;
	unsigned shift = 64 - 8 * label->size;
	uint64_t value = 0;

	for (uint32_t i = 0; i < label->size; i++) {
		uint64_t byte = key[label->offset + i];

		value |= byte << 8 * (is_big ? label->size - 1 - i : i);
	}
	return label->is_signed ? (uint64_t)((int64_t)(value << shift) >> shift) : value;
}

/* Names of the plugin's own series and of what is left over are nobody else's. */
bool label_name(const struct label *label, const unsigned char *key, char *to, size_t size)
{
	char text[DECODE_TEXT_MAX];

	if (label->is_text || !label->kind->name)
		label->kind->name_bytes(label, key + label->offset, text, sizeof(text));
	else
		label->kind->name(label, label_value(label, key), text, sizeof(text));
	for (size_t i = 0; i < label->step_count; i++)
		if (!decode_apply(&label->step[i], text))
			return false;
	name_clean(to, size - 1, text);
	if (name_is_reserved(to))
		strcat(to, "_");
	return true;
}

const char *label_word(const struct label *label)
{
	return label->name[0] ? label->name : label->kind->word;
}

bool labels_are_configured(const struct labels *labels)
{
	bool found = false;

	for (size_t i = 0; i < labels->count; i++)
		found |= labels->label[i].kind->is_configured;
	return found && labels_in_instance(labels) == 1;
}

bool labels_are_of_cpus(const struct labels *labels)
{
	return labels->count == 1 && labels->label[0].kind == label_kind_cpu();
}

bool label_is_absent(const struct label *label, const unsigned char *key)
{
	return label->kind->is_optional && key[label->offset] == ARGUMENT_NONE;
}

bool label_is_rest(const struct label *label, const unsigned char *key)
{
	char rest = label->kind->is_optional ? ARGUMENT_OTHER : '\0';

	/* Objects without tags do not know of it: to them an empty text is one like others. */
	return label->is_text && !label->kind->is_raw && !label->name[0] &&
	       key[label->offset] == rest;
}

int labels_name_functions(struct labels *labels, const struct function_config *functions,
			  size_t count)
{
	for (size_t i = 0; i < labels->count; i++) {
		struct label *label = &labels->label[i];

		if (label->kind != label_kind_function())
			continue;
		label->enumerators = calloc(count + 1, sizeof(*label->enumerators));
		if (!label->enumerators)
			return -ENOMEM;
		label->enumerator_count = count;
		for (size_t k = 0; k < count; k++) {
			label->enumerators[k].value = k;
			snprintf(label->enumerators[k].name, sizeof(label->enumerators[k].name),
				 "%s", functions[k].name);
		}
	}
	return 0;
}

size_t labels_in_instance(const struct labels *labels)
{
	return labels->count ? labels->count - (labels->subject >= 0) : 0;
}

void label_done(struct label *label)
{
	free(label->enumerators);
	for (size_t i = 0; i < label->step_count; i++)
		decode_done(&label->step[i]);
	free(label->step);
}

void labels_done(struct labels *labels)
{
	for (size_t i = 0; i < labels->count; i++)
		label_done(&labels->label[i]);
	*labels = (struct labels){ 0 };
}
