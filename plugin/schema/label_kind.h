/* SPDX-License-Identifier: MIT */
#ifndef EBPF_LABEL_KIND_H
#define EBPF_LABEL_KIND_H

#include "config/config.h"
#include "config/table_config.h"
#include "decode.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ADDRESS_SIZE_MAX 16 /* of version 6 */
#define LABELS_TEXT_MAX 64  /* of those in a type instance, with the NUL */

struct label;

/* A word of LABEL(), and what its members name. */
struct label_kind {
	const char *word;
	bool is_subject;    /* names a plugin instance, if it is the first such */
	bool is_configured; /* names what Response of a Service block does, and nothing else */
	bool is_address;    /* of 4 or 16 bytes, or an integer of 4, in network order */
	bool is_optional;   /* of an array whose first octet is 0 there is nothing to name */
	bool is_raw;        /* of any bytes: a NUL at the begin is no empty text */
	/* Name what is in an integer, or in an array of char, with `size` bytes for the name and the NUL;
	 * both NULL: the row of a service, which the caller resolves. None of them waits. */
	void (*name)(const struct label *label, uint64_t value, char *to, size_t size);
	void (*name_bytes)(const struct label *label, const unsigned char *bytes, char *to,
			   size_t size);
	void (*want)(void); /* once a map has it, NULL: nothing */
	/* Can something be called so? NULL: whatever there is. And where all such names are. */
	bool (*knows)(const char *name);
	const char *list;
};

/* A member of a key that names what a row stands for. */
struct label {
	const struct label_kind *kind;
	char name[CONFIG_MEMBER_MAX]; /* of its Key block; empty: it has a tag */
	uint32_t offset, size;        /* in the key, bytes */
	bool is_signed;
	bool is_swapped; /* the order of its bytes is not the machine's */
	bool is_text;    /* an array of char */
	bool is_bucket;  /* the number of a bucket: it names nothing */
	bool is_group;   /* of a service: the number of a cgroup, not its row */
	struct enumerator {
		uint64_t value;
		char name[LABELS_TEXT_MAX];
	} * enumerators; /* in the order of their values */
	size_t enumerator_count;
	struct decode_step *step; /* what else is made of the name */
	size_t step_count;
};

/* The kind of this word, or NULL. */
const struct label_kind *label_kind(const char *word);

/* Those that the engine asks for. */
const struct label_kind *label_kind_enum(void);
const struct label_kind *label_kind_service(void);
const struct label_kind *label_kind_function(void);
const struct label_kind *label_kind_cpu(void);

/* All words, for messages. */
const char *label_kind_words(void);

#endif
