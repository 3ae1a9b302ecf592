/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TABLE_CONFIG_H
#define EBPF_TABLE_CONFIG_H

#include "string_list.h"

#include <stdbool.h>
#include <stddef.h>

#define CONFIG_TABLES_MAX 64    /* Table blocks of a probe */
#define CONFIG_KEYS_MAX 16      /* Key blocks of a table */
#define CONFIG_VALUES_MAX 64    /* Value blocks of a table */
#define CONFIG_DECODES_MAX 16   /* Decode lines of a key */
#define CONFIG_WORDS_MAX 1024   /* of a Decode or Histogram line */
#define CONFIG_MEMBER_MAX 64    /* bytes of a member's name, with the NUL */
#define CONFIG_KEY_SIZE_MAX 512 /* bytes */
#define CONFIG_ROW_SIZE_MAX (1 << 20)
#define CONFIG_ENTRIES_MAX (1 << 20) /* of a map */

/* `once` of a block has the lines that may occur once, as "Size 4". */

/* A part of the key of a map, as a Key block describes it. */
struct key_config {
	char name[CONFIG_MEMBER_MAX];
	unsigned size; /* bytes, 0: from BTF */
	unsigned offset;
	bool offset_set; /* false: it follows the part before it */
	unsigned padding;
	bool is_subject;
	struct strings *decodes; /* the words of each Decode line */
	size_t decode_count;
	struct strings once;
};

/* A number in the value of a map, as a Value block describes it. */
struct value_config {
	char name[CONFIG_MEMBER_MAX]; /* empty: no name */
	char type[8];                 /* u8 to s64; empty: from BTF, or the whole value */
	unsigned offset;
	unsigned count; /* of an array, 0: from BTF, or no array */
	bool offset_set;
	char *metric; /* in the form of METRIC(); NULL: none */
	struct strings histogram;
	struct strings once;
};

/* The meaning of the rows of a map without tags. */
struct table_config {
	char *map;
	struct key_config *keys;
	size_t key_count;
	struct value_config *values;
	size_t value_count;
	unsigned entries; /* of the map, 0: as its object declares */
	bool each_cpu;
	struct strings once;
};

void table_config_done(struct table_config *table);

#endif
