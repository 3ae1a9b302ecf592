/* SPDX-License-Identifier: MIT */
#ifndef EBPF_LABEL_KIND_H
#define EBPF_LABEL_KIND_H

#include "config/table_config.h"
#include "decode.h"
#include "label_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ADDRESS_SIZE_MAX 16 /* of IPv6 */
#define LABELS_TEXT_MAX 64  /* of all labels in a type instance, with the NUL */

struct label;

/* A word of LABEL(), and how members with it are named. */
struct label_kind {
	const char *word;
	bool is_subject;    /* its name is the plugin instance, if it is the first such label */
	bool is_configured; /* all its names come from Response lines of Service blocks */
	bool is_address;    /* 4 or 16 bytes in network order, or an integer of 4 bytes */
	bool is_optional;   /* an array whose first byte is 0 has no value */
	bool is_raw;        /* any bytes: a NUL in front does not make the text empty */
	/* Write the name of an integer, or of an array of char, into `size` bytes with the NUL.
	 * Both are NULL for the row of a service, which the caller resolves. Neither may block. */
	void (*name)(const struct label *label, uint64_t value, char *to, size_t size);
	void (*name_bytes)(const struct label *label, const unsigned char *bytes, char *to,
			   size_t size);
	enum label_table table; /* has names of values; `name` is for those that it does not know */
	/* Can a value have this name? NULL: any name is possible. `list` says where all names are
	 * documented. */
	bool (*knows)(const char *name);
	const char *list;
};

/* A member of a key that names what the row stands for. */
struct label {
	const struct label_kind *kind;
	char name[CONFIG_MEMBER_MAX]; /* of its Key block; empty: the label comes from a tag */
	uint32_t offset, size;        /* in the key, bytes */
	bool is_signed;
	bool is_swapped; /* its byte order is not the machine's */
	bool is_text;    /* an array of char */
	bool is_bucket;  /* the number of a bucket, which is no part of a name */
	bool is_group;   /* of a service: the value is a cgroup's number, not a row */
	struct enumerator {
		uint64_t value;
		char name[LABELS_TEXT_MAX];
	} * enumerators; /* ordered by value */
	size_t enumerator_count;
	struct decode_step *step; /* Decode steps that change the name */
	size_t step_count;
	const struct label_names *names; /* has kind->table; NULL: its values have no names */
};

/* The kind with this word, or NULL. */
const struct label_kind *label_kind(const char *word);

/* The kinds that the engine treats specially. */
const struct label_kind *label_kind_enum(void);
const struct label_kind *label_kind_service(void);
const struct label_kind *label_kind_function(void);
const struct label_kind *label_kind_cpu(void);

/* All words, for messages. */
const char *label_kind_words(void);

#endif
