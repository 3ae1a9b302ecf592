/* SPDX-License-Identifier: MIT */
/*
 * What LABEL tags and Key blocks have in common when they are parsed into labels.
 */
#include "label_parser.h"

#include "label_kind.h"
#include "object/annotation.h"
#include "type.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define ENUMERATORS_MAX 4096

int label_bad(const struct label_parser *r, const char *member, const char *why)
{
	return error_set(r->error, -EINVAL, "map %s, member %s of the key: %s", r->map, member,
			 why);
}

static int by_enumerator_value(const void *left, const void *right)
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

int label_read_enumerators(const struct label_parser *r, const struct btf_type *type,
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
	qsort(label->enumerators, (size_t)count, sizeof(*label->enumerators), by_enumerator_value);
	return 0;
}

uint32_t label_text_size(const struct btf *btf, const struct btf_type *type)
{
	const struct btf_type *element =
		btf_is_array(type) ? type_resolve(btf, btf_array(type)->type) : NULL;

	return element && btf_is_int(element) && element->size == 1 ? btf_array(type)->nelems : 0;
}

int label_add(const struct label_parser *r, const char *member, const struct label *label)
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

/* A service is the plugin instance, else the first label that can be one. All others become part of
 * the type instance. */
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

/* A service can only be the plugin instance, which a CPU takes if the rows are per CPU. */
int label_check_services(const struct label_parser *r, const struct subject_tag *subject)
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
