/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FIELDS_H
#define EBPF_FIELDS_H

#include "file_tag.h"
#include "map_shape.h"
#include "schema.h"
#include "util/message.h"

#include <bpf/btf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A member of a row or of its key that a word of a text file fills. */
struct field {
	char member[FIELD_NAME_MAX];
	bool of_key;
	bool is_text;    /* of a key: an array of char, else an integer */
	bool is_signed;  /* of a row, whose members have 64 bits */
	bool is_gauge;   /* of a row: the value itself is dispatched, else its growth */
	uint32_t offset; /* in the row or the key, bytes */
	uint32_t size;
	uint32_t column; /* of a row: index of its column in the schema */
};

/* What the rows of a table are read from. */
struct fields {
	struct file_tag file;
	char text[FILE_PATH_MAX + 16]; /* the path of the tag, for messages */
	struct field field[TEXT_FIELDS_MAX];
	struct field_tag tag[TEXT_FIELDS_MAX]; /* tag[i] belongs to field[i] */
	size_t count;
	bool by_service; /* each cgroup of a service has a file of its own */
	bool by_key;
	uint32_t service_offset; /* with by_key and by_service: offset of the service in the key */
	uint32_t key_size;       /* as the object declares it */
	uint32_t row_size;
};

/* Reads the FILE tag of a map, and the FIELD tags of its rows and keys, once the schema is
 * complete. 1: the caller frees *ret_fields; 0: the map has no FILE; -EINVAL: the error names map,
 * member and word; -ENOMEM. */
int fields_read(struct fields **ret_fields, const struct btf *btf, const struct map_shape *map,
		const struct schema *schema, struct error *error);

#endif
