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

#define EVENT_TEXT_MAX 224 /* of the 256 bytes of a notification; the notifier appends to it */
#define EVENT_STRING_MAX 128

/* How a member of a record is written. */
enum field_kind {
	FIELD_UNSIGNED,
	FIELD_SIGNED,
	FIELD_BYTES, /* an unsigned number, in KiB, MiB, ... */
	FIELD_ENUM,
	FIELD_STRING,
	FIELD_SERVICE, /* the number of a row: the name of its service */
};

struct event_field {
	enum field_kind kind;
	uint32_t offset; /* in the record, in bytes */
	uint32_t size;
	uint32_t type; /* BTF id, of an enum */
};

/* A part of a notification's text: a literal text and, except in the last part, a member. */
struct event_part {
	char before[EVENT_TEXT_MAX];
	bool has_field;
	struct event_field field;
};

/* What the records of a ring buffer are, and what notifications say about them. */
struct event {
	char map[64];
	struct bpf_map *ring; /* owned by the object */
	enum health health;
	struct tag tag; /* type and instance of the series that it is about */
	const struct btf *btf;
	uint32_t record_size;
	bool has_service;
	struct event_field service;
	struct event_part *parts;
	size_t part_count;
};

/* Reads the EVENT tag on the variable of a map, and the struct of its records. 1; 0: there is no
 * such tag; -EINVAL, -E2BIG or an error of `lookup`: the error names map, member and word. btf must
 * outlive the event. */
int event_read(struct event *event, const struct btf *btf, const char *map, uint32_t record_type,
	       type_lookup *lookup, struct error *error);

/* The same for a map that is not loaded yet, which must be a ring buffer. */
int event_open(struct event *event, struct bpf_map *map, const struct btf *btf, type_lookup *lookup,
	       struct error *error);

/* Returns the row of the service that a record is about; false: it is about none. */
bool event_row(const struct event *event, const void *record, uint32_t *ret_row);

/* Writes the text about a record of at least record_size bytes. `service` is the name of its
 * row. */
void event_text(const struct event *event, const void *record, const char *service, char *text,
		size_t size);

void event_done(struct event *event);

/* All events of an object. */
struct events {
	struct event *item;
	size_t count;
};

/* Finds the ring buffers of an object that is not loaded yet, except those whose Option is not
 * among `options`, and prepares them for loading. Errors of event_open(), or -ENOMEM. */
int events_find(struct events *events, struct object *object, const struct strings *options,
		type_lookup *lookup, struct error *error);

void events_done(struct events *events);

#endif
