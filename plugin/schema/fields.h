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

/* A member of a row, or of its key, that is a word of a text. */
struct field {
	char member[FIELD_NAME_MAX];
	bool of_key;
	bool is_text;    /* of a key: an array of char, else an integer */
	bool is_signed;  /* of a row, whose members have 64 bits */
	bool is_gauge;   /* of a row: as it stands; all else grows */
	uint32_t offset; /* in the row or the key, bytes */
	uint32_t size;
	uint32_t column; /* of a row: of the schema */
};

/* What the rows of a table are read from. */
struct fields {
	struct file_tag file;
	char text[FILE_PATH_MAX + 16]; /* of the tag's path, for messages */
	struct field field[TEXT_FIELDS_MAX];
	struct field_tag tag[TEXT_FIELDS_MAX]; /* of the field of this number */
	size_t count;
	bool by_service; /* there is a file for each cgroup of services */
	bool by_key;
	uint32_t service_offset; /* by both: of the service in the key */
	uint32_t key_size;       /* as the object has it */
	uint32_t row_size;
};

/* Reads the FILE tag of a map and the FIELD tags of its rows and keys, of a schema that has been read.
 * 1, and the caller frees *ret_fields; 0: it has no FILE; -EINVAL: the error names map, member and
 * word; -ENOMEM. */
int fields_read(struct fields **ret_fields, const struct btf *btf, const struct map_shape *map,
		const struct schema *schema, struct error *error);

#endif
