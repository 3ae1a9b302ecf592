/* SPDX-License-Identifier: MIT */
#ifndef EBPF_EVENT_H
#define EBPF_EVENT_H

#include "config/config.h"
#include "object/object.h"
#include "schema/schema.h"
#include "util/health.h"
#include "util/message.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_TEXT_MAX \
	224 /* of the 256 bytes of a notification; the rest is for what was left out */
#define EVENT_STRING_MAX 128

/* How a member of a record is written. */
enum field_kind {
	FIELD_UNSIGNED,
	FIELD_SIGNED,
	FIELD_OCTETS, /* an unsigned number, in KiB, MiB, ... */
	FIELD_ENUM,
	FIELD_STRING,
	FIELD_SERVICE, /* the number of a row: the name of its service */
};

struct event_field {
	enum field_kind kind;
	uint32_t offset; /* in the record, bytes */
	uint32_t size;
	uint32_t type; /* of an enum, in BTF */
};

/* A notification's text is such parts: a text as it stands and then, but for the last, a member. */
struct event_part {
	char before[EVENT_TEXT_MAX];
	bool has_field;
	struct event_field field;
};

/* What the records of a ring buffer are, and what is told of them. */
struct event {
	char map[64];
	struct bpf_map *ring; /* the object's */
	enum health health;
	struct tag tag; /* type and instance of the series that it is about */
	const struct btf *btf;
	uint32_t record_size;
	bool has_service;
	struct event_field service;
	struct event_part *parts;
	size_t part_count;
};

/* Reads the EVENT tag on the variable of a map, and the struct that its records are. 1; 0: there is
 * no such tag; -EINVAL, -E2BIG or what `lookup` says: the error names map, member and word. btf is
 * to outlive the event. */
int event_read(struct event *event, const struct btf *btf, const char *map, uint32_t record_type,
	       type_lookup *lookup, struct error *error);

/* The same of a map that is not loaded yet, which must be a ring buffer. */
int event_open(struct event *event, struct bpf_map *map, const struct btf *btf, type_lookup *lookup,
	       struct error *error);

/* The row of the service that a record is about; false: it is about none. */
bool event_row(const struct event *event, const void *record, uint32_t *ret_row);

/* Writes what a record of at least record_size bytes tells. service is the name of its row. */
void event_text(const struct event *event, const void *record, const char *service, char *text,
		size_t size);

void event_done(struct event *event);

/* All of an object. */
struct events {
	struct event *item;
	size_t count;
};

/* Finds the ring buffers of an object that is not loaded yet, as far as these options let it have
 * them, and makes all of them as the kernel wants them. Errors: those of event_open(), -ENOMEM. */
int events_find(struct events *events, struct object *object, const struct strings *options,
		type_lookup *lookup, struct error *error);

void events_done(struct events *events);

#endif
