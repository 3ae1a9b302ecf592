/* SPDX-License-Identifier: MIT */
/*
 * From the tags of a ring buffer to what a notification says about a record. BTF and tags may come
 * from anybody, as those of tables: what is read from them is checked against the size of the
 * record.
 */
#include "event.h"

#include "object/annotation.h"
#include "object/hook_set_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_TAG "event:"
#define LABEL_TAG "label:"
#define SPACE " \t"
#define RECORD_SIZE_MAX 4096
#define PARTS_MAX 32
#define STRING_SIZE_MAX 256
#define RING_SIZE_MAX (1U << 20)

struct event_parser {
	struct event *event;
	const struct btf_type *record;
	uint32_t record_id;
	struct error *error;
};

static const struct btf_type *resolve_event_type(const struct btf *btf, uint32_t id,
						 uint32_t *ret_id)
{
	int resolved = btf__resolve_type(btf, id);

	if (resolved < 0)
		return NULL;
	*ret_id = (uint32_t)resolved;
	return btf__type_by_id(btf, *ret_id);
}

static int bad_member(const struct event_parser *r, const char *member, const char *why)
{
	return error_set(r->error, -EINVAL, "map %s, member %s: %s", r->event->map, member, why);
}

/* --- tags --- */

/* Finds the tag with this prefix on a variable, or on a struct's member with index `member`
 * (`variable` is NULL). Without such a tag ret_text is untouched. -EEXIST: there are two. */
static int find_event_tag(const struct btf *btf, const char *prefix, const char *variable,
			  uint32_t record, int member, const char **ret_text)
{
	uint32_t count = btf__type_cnt(btf);
	const char *found = NULL;

	for (uint32_t id = 1; id < count; id++) {
		const struct btf_type *tag = btf__type_by_id(btf, id);
		const struct btf_type *of;
		const char *text;

		if (!btf_is_decl_tag(tag))
			continue;
		text = annotation_name(btf, tag->name_off);
		of = btf__type_by_id(btf, tag->type);
		if (strncmp(text, prefix, strlen(prefix)) != 0 || !of)
			continue;
		if (variable ? !btf_is_var(of) ||
				       strcmp(annotation_name(btf, of->name_off), variable) != 0
			     : tag->type != record || btf_decl_tag(tag)->component_idx != member)
			continue;
		if (found)
			return -EEXIST;
		found = text + strlen(prefix);
	}
	if (found)
		*ret_text = found;
	return 0;
}

/* Copies the word at *text and moves *text behind it. false: it is too long. */
static bool copy_event_word(const char **text, char *to, size_t size)
{
	const char *word = *text + strspn(*text, SPACE);
	size_t length = strcspn(word, SPACE);

	*text = word + length;
	if (length >= size)
		return false;
	memcpy(to, word, length);
	to[length] = '\0';
	return true;
}

static int parse_severity(const struct event_parser *r, const char **text)
{
	static const char *const words[] = {
		[HEALTH_OKAY] = "okay",
		[HEALTH_WARNING] = "warning",
		[HEALTH_FAILURE] = "failure",
	};
	char word[16] = "";

	if (copy_event_word(text, word, sizeof(word)))
		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
			if (!strcmp(word, words[i])) {
				r->event->health = (enum health)i;
				return 0;
			}
	return error_set(r->error, -EINVAL, "map %s: an EVENT begins with failure, warning or okay",
			 r->event->map);
}

static int parse_event_series(const struct event_parser *r, const char **text, type_lookup *lookup)
{
	struct tag *tag = &r->event->tag;
	struct metric_type type;
	struct error why = { "" };
	char word[3 * TAG_TEXT_MAX];
	int status;

	if (!copy_event_word(text, word, sizeof(word)) || tag_parse(word, tag, &why) ||
	    tag->source[0])
		return error_set(r->error, -EINVAL,
				 "map %s: the second word of an EVENT is TYPE[-INSTANCE], the "
				 "series that it is about",
				 r->event->map);
	status = lookup(tag->type, &type);
	if (status == -ENOENT)
		return error_set(r->error, status, "map %s: collectd's types.db has no type \"%s\"",
				 r->event->map, tag->type);
	return 0;
}

/* --- members --- */

static int read_integer_field(const struct event_parser *r, const char *member,
			      const struct btf_type *type, struct event_field *field)
{
	field->kind = btf_is_any_enum(type)                     ? FIELD_ENUM
		      : btf_int_encoding(type) & BTF_INT_SIGNED ? FIELD_SIGNED
								: FIELD_UNSIGNED;
	field->size = type->size;
	if (type->size == 1 || type->size == 2 || type->size == 4 || type->size == 8)
		return 0;
	return bad_member(r, member, "only integers of 1, 2, 4 or 8 bytes can be written");
}

static int read_string_field(const struct event_parser *r, const char *member,
			     const struct btf_type *type, struct event_field *field)
{
	const struct btf_array *array = btf_array(type);
	uint32_t id;
	const struct btf_type *element = resolve_event_type(r->event->btf, array->type, &id);

	if (!element || !btf_is_int(element) || element->size != 1)
		return bad_member(r, member, "only arrays of char can be written");
	if (array->nelems == 0 || array->nelems > STRING_SIZE_MAX)
		return bad_member(r, member, "a string has 1 to 256 bytes");
	field->kind = FIELD_STRING;
	field->size = array->nelems;
	return 0;
}

static int read_field_label(const struct event_parser *r, int i, const char *member,
			    struct event_field *field)
{
	const char *label = NULL;

	if (find_event_tag(r->event->btf, LABEL_TAG, NULL, r->record_id, i, &label))
		return bad_member(r, member, "two LABEL tags");
	if (!label)
		return 0;
	if (strcmp(label, "service") != 0)
		return error_set(r->error, -EINVAL,
				 "map %s, member %s: unknown label \"%.64s\" (service)",
				 r->event->map, member, label);
	if (field->kind != FIELD_UNSIGNED || field->size != sizeof(uint32_t))
		return bad_member(r, member, "the row of a service is a u32");
	field->kind = FIELD_SERVICE;
	return 0;
}

/* Reads the member with index i of the record. */
static int read_field(const struct event_parser *r, int i, struct event_field *field)
{
	const struct btf_member *m = &btf_members(r->record)[i];
	const char *member = annotation_name(r->event->btf, m->name_off);
	uint32_t bits = btf_member_bit_offset(r->record, (uint32_t)i);
	const struct btf_type *type = resolve_event_type(r->event->btf, m->type, &field->type);
	int status;

	if (!type || bits % 8 || btf_member_bitfield_size(r->record, (uint32_t)i))
		return bad_member(r, member, "bit fields cannot be written");
	field->offset = bits / 8;
	if (btf_is_int(type) || btf_is_any_enum(type))
		status = read_integer_field(r, member, type, field);
	else if (btf_is_array(type))
		status = read_string_field(r, member, type, field);
	else
		status = bad_member(r, member, "is neither an integer, nor an enum, nor a string");
	if (status == 0 && (uint64_t)field->offset + field->size > r->event->record_size)
		status = bad_member(r, member, "lies outside of the record");
	return status ?: read_field_label(r, i, member, field);
}

/* Finds the member that has LABEL("service"), even if the text does not contain it. */
static int find_service_member(const struct event_parser *r)
{
	struct event *event = r->event;

	for (int i = 0; i < btf_vlen(r->record); i++) {
		const char *label = NULL;
		struct event_field field;
		int status = find_event_tag(event->btf, LABEL_TAG, NULL, r->record_id, i, &label);

		if (status == 0 && !label)
			continue;
		status = read_field(r, i, &field);
		if (status)
			return status;
		if (event->has_service)
			return error_set(r->error, -EINVAL,
					 "map %s: two members have LABEL(\"service\")", event->map);
		event->has_service = true;
		event->service = field;
	}
	return 0;
}

/* --- the text --- */

static int find_record_member(const struct event_parser *r, const char *name, size_t length)
{
	for (int i = 0; i < btf_vlen(r->record); i++) {
		const char *member =
			annotation_name(r->event->btf, btf_members(r->record)[i].name_off);

		if (strlen(member) == length && !strncmp(member, name, length))
			return i;
	}
	return -1;
}

/* Reads what is between braces: MEMBER or MEMBER:bytes. */
static int parse_braces(const struct event_parser *r, const char *text, size_t length,
			struct event_field *field)
{
	const char *colon = memchr(text, ':', length);
	size_t name = colon ? (size_t)(colon - text) : length;
	int member = find_record_member(r, text, name), status;

	if (member < 0)
		return error_set(r->error, -EINVAL,
				 "map %s: the text has {%.*s}, but its records have no such member",
				 r->event->map, (int)length, text);
	status = read_field(r, member, field);
	if (status || !colon)
		return status;
	if (length - name != strlen(":bytes") || strncmp(colon, ":bytes", length - name) != 0 ||
	    field->kind != FIELD_UNSIGNED)
		return error_set(r->error, -EINVAL,
				 "map %s: {%.*s}: after the colon can only be \"bytes\", of an "
				 "unsigned integer",
				 r->event->map, (int)length, text);
	field->kind = FIELD_BYTES;
	return 0;
}

static struct event_part *add_event_part(struct event *event, const char *before, size_t length)
{
	struct event_part *grown =
		reallocarray(event->parts, event->part_count + 1, sizeof(*grown));

	if (!grown)
		return NULL;
	event->parts = grown;
	grown += event->part_count++;
	*grown = (struct event_part){ 0 };
	memcpy(grown->before, before, length);
	return grown;
}

static int parse_event_text(const struct event_parser *r, const char *text)
{
	struct event *event = r->event;

	text += strspn(text, SPACE);
	if (!*text || strlen(text) >= EVENT_TEXT_MAX)
		return error_set(r->error, -EINVAL,
				 "map %s: the third part of an EVENT is its text, of 1 to %d bytes",
				 event->map, EVENT_TEXT_MAX - 1);
	for (const char *c = text; *c; c++)
		if (*c < 0x20 || *c > 0x7e)
			return error_set(r->error, -EINVAL,
					 "map %s: the text of an EVENT is of printable ASCII",
					 event->map);
	while (*text) {
		size_t before = strcspn(text, "{}"), length = strcspn(text + before, "}");
		struct event_part *part =
			event->part_count < PARTS_MAX ? add_event_part(event, text, before) : NULL;
		int status;

		if (!part)
			return error_set(r->error, -E2BIG, "map %s: more than %d members in a text",
					 event->map, PARTS_MAX);
		text += before;
		if (!*text)
			return 0;
		if (*text != '{' || text[length] != '}')
			return error_set(r->error, -EINVAL,
					 "map %s: a brace of the text has no other: \"%.32s\"",
					 event->map, text);
		status = parse_braces(r, text + 1, length - 1, &part->field);
		if (status)
			return status;
		part->has_field = true;
		text += length + 1;
	}
	return 0;
}

/* --- an event --- */

static int resolve_record(struct event_parser *r, uint32_t record_type)
{
	r->record = resolve_event_type(r->event->btf, record_type, &r->record_id);
	if (!record_type || !r->record || !btf_is_struct(r->record))
		return error_set(r->error, -EINVAL,
				 "map %s: say what struct its records are: "
				 "__type(value, struct NAME)",
				 r->event->map);
	if (r->record->size == 0 || r->record->size > RECORD_SIZE_MAX)
		return error_set(r->error, -E2BIG, "map %s: a record has 1 to %d bytes",
				 r->event->map, RECORD_SIZE_MAX);
	r->event->record_size = r->record->size;
	return 0;
}

int event_read(struct event *event, const struct btf *btf, const char *map, uint32_t record_type,
	       type_lookup *lookup, struct error *error)
{
	struct event_parser parser = { .event = event, .error = error };
	const char *text = NULL;
	int status;

	*event = (struct event){ .btf = btf };
	snprintf(event->map, sizeof(event->map), "%s", map);
	if (find_event_tag(btf, EVENT_TAG, map, 0, 0, &text))
		return error_set(error, -EINVAL, "map %s: two EVENT tags", map);
	if (!text)
		return 0;
	status = parse_severity(&parser, &text);
	status = status ?: parse_event_series(&parser, &text, lookup);
	status = status ?: resolve_record(&parser, record_type);
	status = status ?: find_service_member(&parser);
	status = status ?: parse_event_text(&parser, text);
	if (status) {
		event_done(event);
		return status;
	}
	return 1;
}

int event_open(struct event *event, struct bpf_map *map, const struct btf *btf, type_lookup *lookup,
	       struct error *error)
{
	const char *name = bpf_map__name(map);
	int status;

	status = event_read(event, btf, name, bpf_map__btf_value_type_id(map), lookup, error);
	if (status <= 0)
		return status;
	event->ring = map;
	if (bpf_map__type(map) != BPF_MAP_TYPE_RINGBUF)
		status =
			error_set(error, -EINVAL,
				  "map %s: EVENT is for ring buffers (BPF_MAP_TYPE_RINGBUF)", name);
	else if (bpf_map__max_entries(map) == 0 || bpf_map__max_entries(map) > RING_SIZE_MAX)
		status = error_set(error, -E2BIG,
				   "map %s: a ring buffer of events has at most %u bytes", name,
				   RING_SIZE_MAX);
	if (status < 0)
		event_done(event);
	return status;
}

void event_done(struct event *event)
{
	free(event->parts);
	*event = (struct event){ 0 };
}

/* --- the events of an object --- */

int events_find(struct events *events, struct object *object, const struct strings *options,
		type_lookup *lookup, struct error *error)
{
	const struct btf *btf = bpf_object__btf(object->bpf);
	struct bpf_map *map;

	bpf_object__for_each_map(map, object->bpf)
	{
		struct event event = { 0 }, *grown;
		int status = 0;

		if (!bpf_map__is_internal(map) && object_map_is_enabled(object, map, options))
			status = event_open(&event, map, btf, lookup, error);
		/* The kernel accepts no value size of a ring buffer. */
		if (bpf_map__type(map) == BPF_MAP_TYPE_RINGBUF)
			bpf_map__set_value_size(map, 0);
		if (status < 0)
			return status;
		if (status == 0)
			continue;
		grown = reallocarray(events->item, events->count + 1, sizeof(*grown));
		if (!grown) {
			event_done(&event);
			return error_set(error, -ENOMEM, "no memory");
		}
		events->item = grown;
		grown[events->count++] = event;
	}
	return 0;
}

void events_done(struct events *events)
{
	for (size_t i = 0; i < events->count; i++)
		event_done(&events->item[i]);
	free(events->item);
	*events = (struct events){ 0 };
}
