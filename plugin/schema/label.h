/* SPDX-License-Identifier: MIT */
#ifndef EBPF_LABEL_H
#define EBPF_LABEL_H

#include "config/table_config.h"
#include "decode.h"
#include "label_names.h"
#include "tag.h"
#include "util/message.h"

#include <bpf/btf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LABELS_MAX 8 /* of a key */
#define LABEL_KEY_SIZE_MAX 512
#define ADDRESS_SIZE_MAX 16 /* of version 6 */
#define LABELS_TEXT_MAX 64  /* of those in a type instance, with the NUL */

struct function_config;
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
	enum label_table table; /* where `name` looks its values up */
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
	/* Where kind->table is; NULL: its values have no names. */
	const struct label_names *names;
};

/* Those of a key, in the order of its members. */
struct labels {
	struct label label[LABELS_MAX];
	size_t count;
	uint32_t key_size;
	int subject;     /* the label that is the plugin instance, -1: none, it is the probe */
	bool has_bucket; /* rows are buckets of histograms, by a number in the key */
	struct label bucket;
};

/* Reads the LABEL tags of a map's key type, or what its SUBJECT says of a key that is one integer.
 * The error names map, member and word. */
int labels_read(struct labels *labels, const struct btf *btf, const char *map, uint32_t key_type,
		uint32_t key_size, const struct subject_tag *subject, struct error *error);

/* Labels look names up here from now on; `names` outlives them. */
void labels_use_names(struct labels *labels, const struct label_names *names);

/* The number in a key that a label reads. */
uint64_t label_value(const struct label *label, const unsigned char *key);

/* What is in a key, as a clean name of `size` bytes with the NUL; not of a service. False: what is called
 * so is left out. */
bool label_name(const struct label *label, const unsigned char *key, char *to, size_t size);

/* What Label lines call it by. */
const char *label_word(const struct label *label);

/* Has it one that Response of Service blocks says all names of, and no other in the type
 * instance? */
bool labels_are_configured(const struct labels *labels);

/* Is a CPU all that a key says? */
bool labels_are_of_cpus(const struct labels *labels);

/* How many labels are parts of the type instance, at most. */
size_t labels_in_instance(const struct labels *labels);

void label_done(struct label *label);
/* Has the key nothing for a label, which is then no part of the name? */
bool label_is_absent(const struct label *label, const unsigned char *key);

/* Does the key say that what it stands for found no room for a key of its own? */
bool label_is_rest(const struct label *label, const unsigned char *key);

/* Names the functions of Function blocks, for the label function; -ENOMEM. */
int labels_name_functions(struct labels *labels, const struct function_config *functions,
			  size_t count);

void labels_done(struct labels *labels);

#endif
