/* SPDX-License-Identifier: MIT */
/*
 * From the Key blocks of a Table block to labels: where each part of the key lies, by BTF or by the
 * block, and what its Decode lines say: how a number is read, one name, and steps from text to
 * text.
 */
#include "label_block.h"

#include "label_kind.h"
#include "label_parser.h"
#include "object/annotation.h"
#include "type.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct key_part {
	struct label_parser parser;
	const struct map_shape *map;
	const struct key_config *key;
	const struct btf_type *type; /* from BTF, or NULL */
	struct label label;
	size_t decode;        /* index of the next Decode line */
	bool has_number_line; /* the first Decode line says how the number is read */
	bool is_none;         /* it names nothing */
};

static int bad_part(const struct key_part *part, const char *why)
{
	return label_bad(&part->parser, part->key->name, why);
}

/* --- where it lies --- */

/* NULL: BTF does not describe it. */
static const struct btf_type *resolve_key(const struct btf *btf, uint32_t id)
{
	return id ? type_resolve(btf, id) : NULL;
}

static int locate_in_btf(struct key_part *part, const struct btf_type *key, bool is_only)
{
	const struct btf *btf = part->parser.btf;
	int i = 0, count = btf_is_struct(key) ? btf_vlen(key) : 0;
	int64_t size;

	if (!btf_is_struct(key) && is_only) {
		part->type = key;
		part->label.size = part->map->key_size;
		return 0;
	}
	while (i < count &&
	       strcmp(annotation_name(btf, btf_members(key)[i].name_off), part->key->name) != 0)
		i++;
	if (i == count)
		return bad_part(part,
				"the map's key has no member of this name in BTF; give its Size");
	if (btf_member_bit_offset(key, (uint32_t)i) % 8 ||
	    btf_member_bitfield_size(key, (uint32_t)i))
		return bad_part(part, "bit fields cannot be labels");
	size = btf__resolve_size(btf, btf_members(key)[i].type);
	part->type = resolve_key(btf, btf_members(key)[i].type);
	if (!part->type || size < 1 || size > LABEL_KEY_SIZE_MAX)
		return bad_part(part, "its type in BTF has no name of its own; give its Size");
	part->label.offset = btf_member_bit_offset(key, (uint32_t)i) / 8;
	part->label.size = (uint32_t)size;
	return 0;
}

/* Finds offset and size of a part. *at is the offset behind the previous part and becomes the one
 * behind this one. */
static int locate_part(struct key_part *part, bool is_only, uint32_t *at)
{
	const struct key_config *key = part->key;
	const struct btf_type *type = resolve_key(part->parser.btf, part->map->key_type);
	int status = 0;

	part->label.offset = key->offset_set ? key->offset : *at;
	part->label.size = key->size;
	if (!key->size && key->offset_set)
		return bad_part(part, "Offset needs a Size");
	if (!key->size && !type)
		return bad_part(part, "the object does not say how large it is; give its Size");
	if (!key->size)
		status = locate_in_btf(part, type, is_only);
	if (status)
		return status;
	*at = part->label.offset + part->label.size + key->padding;
	if ((uint64_t)part->label.offset + part->label.size > part->map->key_size)
		return bad_part(part, "lies outside of the key");
	return 0;
}

/* --- what it is called --- */

static const struct strings *next_decode_line(const struct key_part *part)
{
	return part->decode < part->key->decode_count ? &part->key->decodes[part->decode] : NULL;
}

static bool is_decode_line(const struct strings *line, const char *word, const char *more)
{
	return line && line->count == (more ? 2 : 1) && !strcmp(line->item[0], word) &&
	       (!more || !strcmp(line->item[1], more));
}

/* Parses the line "uint" or "int", with an optional byte order. */
static int parse_number_line(struct key_part *part)
{
	const struct strings *line = next_decode_line(part);
	bool is_signed = line && !strcmp(line->item[0], "int");
	bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	if (!line || (!is_signed && strcmp(line->item[0], "uint") != 0))
		return 0;
	part->has_number_line = true;
	part->label.is_signed = is_signed;
	part->decode++;
	if (line->count == 2 && !strcmp(line->item[1], "big"))
		part->label.is_swapped = !is_big;
	else if (line->count == 2 && !strcmp(line->item[1], "little"))
		part->label.is_swapped = is_big;
	else if (line->count > 1)
		return bad_part(part, "after Decode \"uint\" or \"int\" only \"big\" or "
				      "\"little\" can follow");
	return 0;
}

/* The kind of a part without a Decode line that names one. */
static const struct label_kind *default_kind(struct key_part *part)
{
	if (part->type && btf_is_any_enum(part->type) && !part->has_number_line)
		return label_kind_enum();
	if (part->type && label_text_size(part->parser.btf, part->type) && !part->has_number_line)
		return label_kind("string");
	return label_kind("number");
}

static int parse_name_line(struct key_part *part)
{
	const struct strings *line = next_decode_line(part);
	char why[512];

	part->is_none = is_decode_line(line, "none", NULL);
	part->parser.labels->has_bucket |= is_decode_line(line, "bucket", NULL);
	part->label.is_bucket = is_decode_line(line, "bucket", NULL);
	if (part->is_none || part->label.is_bucket) {
		part->decode++;
		part->label.kind = label_kind("number");
		return 0;
	}
	if (!line || decode_is_step(line->item[0])) {
		part->label.kind = default_kind(part);
		return 0;
	}
	part->decode++;
	part->label.is_group = is_decode_line(line, "service", "cgroup");
	if (is_decode_line(line, "device", "stat"))
		part->label.kind = label_kind("device_stat");
	else if (line->count == 1 || part->label.is_group)
		part->label.kind = label_kind(line->item[0]);
	if (part->label.kind)
		return 0;
	snprintf(
		why, sizeof(why),
		"unknown Decode \"%.32s\"%s (uint, int, %s, map, map-strict, regexp, dname, bucket "
		"or none)",
		line->item[0], line->count > 1 ? " with more after it" : "", label_kind_words());
	return bad_part(part, why);
}

/* Can its kind name a value of this size? */
static int check_part_size(struct key_part *part)
{
	const struct label_kind *kind = part->label.kind;
	uint32_t size = part->label.size;

	part->label.is_text =
		kind->name_bytes && !kind->is_address && (!kind->name || size > sizeof(uint64_t));
	if (kind->name_bytes && !kind->name && part->has_number_line)
		return bad_part(part, "this name is made of bytes, and no \"uint\" or \"int\" goes "
				      "before it");
	if (kind->is_address && size != 4 && size != ADDRESS_SIZE_MAX)
		return bad_part(part, "an address has 4 or 16 bytes");
	if (kind == label_kind_service() && !part->label.is_group && size != sizeof(uint32_t))
		return bad_part(part, "the row of a service has 4 bytes");
	if (!kind->is_address && !part->label.is_text && size > sizeof(uint64_t))
		return bad_part(part,
				"a number has 8 bytes at most; more bytes need Decode \"string\", "
				"\"address\" or \"hex\"");
	return 0;
}

static int parse_step_line(struct key_part *part)
{
	const struct strings *line = next_decode_line(part);
	struct label *label = &part->label;
	struct error why;
	int status;

	if (!decode_is_step(line->item[0]))
		return bad_part(part,
				"after a name only map, map-strict, regexp and dname can follow");
	if (label->kind == label_kind_service() || part->is_none || label->is_bucket)
		return bad_part(part, "nothing can be made of it by further Decode lines");
	status = decode_parse(line, &label->step[label->step_count], &why);
	if (status)
		return bad_part(part, why.text);
	label->step_count++;
	part->decode++;
	return 0;
}

static int parse_step_lines(struct key_part *part)
{
	size_t count = part->key->decode_count - part->decode;
	int status = 0;

	if (count == 0)
		return 0;
	part->label.step = calloc(count, sizeof(*part->label.step));
	if (!part->label.step)
		return error_set(part->parser.error, -ENOMEM, "map %s: no memory",
				 part->parser.map);
	while (next_decode_line(part) && status == 0)
		status = parse_step_line(part);
	return status;
}

static int parse_decode_lines(struct key_part *part)
{
	int status = parse_number_line(part);

	if (part->type && btf_is_int(part->type) && !part->has_number_line)
		part->label.is_signed = btf_int_encoding(part->type) & BTF_INT_SIGNED;
	status = status ?: parse_name_line(part);
	status = status ?: check_part_size(part);
	if (status == 0 && part->label.kind == label_kind_enum()) {
		if (!part->type || !btf_is_any_enum(part->type))
			return bad_part(part,
					"BTF has no enum there, whose names Decode \"enum\" takes");
		status = label_read_enumerators(&part->parser, part->type, &part->label);
	}
	return status ?: parse_step_lines(part);
}

/* --- all of them --- */

static int add_bucket(struct key_part *part)
{
	struct labels *labels = part->parser.labels;

	if (labels->bucket.kind)
		return bad_part(part, "another Key block has Decode \"bucket\", and only one can");
	labels->bucket = part->label;
	return 0;
}

static int add_key_part(struct key_part *part)
{
	struct labels *labels = part->parser.labels;
	int status;

	if (part->key->is_subject && (part->is_none || part->label.is_bucket))
		return bad_part(part, "Subject needs a name");
	if (part->label.is_bucket)
		return add_bucket(part);
	if (part->is_none)
		return 0;
	if (part->key->is_subject && labels->subject >= 0)
		return bad_part(part, "another Key block has Subject, and only one can");
	status = label_add(&part->parser, part->key->name, &part->label);
	if (status == 0 && part->key->is_subject)
		labels->subject = (int)labels->count - 1;
	return status;
}

static int parse_key_block(const struct label_parser *r, const struct map_shape *map,
			   const struct key_config *key, bool is_only, uint32_t *at)
{
	struct key_part part = { .parser = *r, .map = map, .key = key };
	int status;

	snprintf(part.label.name, sizeof(part.label.name), "%s", key->name);
	status = locate_part(&part, is_only, at);
	status = status ?: parse_decode_lines(&part);
	status = status ?: add_key_part(&part);
	if (status)
		label_done(&part.label);
	return status;
}

int labels_describe(struct labels *labels, const struct btf *btf, const struct map_shape *map,
		    const struct table_config *block, struct error *error)
{
	const struct label_parser r = { labels, btf, map->name, error };
	const struct subject_tag subject = { .kind = SUBJECT_KEY, .cpu = block->each_cpu };
	uint32_t at = 0;
	int status = 0;

	*labels = (struct labels){ .key_size = map->key_size, .subject = -1 };
	if (map->key_size > LABEL_KEY_SIZE_MAX)
		return error_set(error, -EINVAL, "map %s: its key has more than %d bytes",
				 map->name, LABEL_KEY_SIZE_MAX);
	for (size_t i = 0; i < block->key_count && status == 0; i++)
		status = parse_key_block(&r, map, &block->keys[i], block->key_count == 1, &at);
	status = status ?: label_check_services(&r, &subject);
	if (status == 0 && block->each_cpu && labels->subject >= 0)
		status = error_set(error, -EINVAL,
				   "map %s: either EachCpu or Subject names the plugin instance",
				   map->name);
	if (status == 0 && labels->subject < 0 && !block->each_cpu)
		labels->subject = label_find_subject(labels);
	if (status)
		labels_done(labels);
	return status;
}
