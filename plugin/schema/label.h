/* SPDX-License-Identifier: MIT */
#ifndef EBPF_LABEL_H
#define EBPF_LABEL_H

#include "label_kind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LABELS_MAX 8 /* of a key */
#define LABEL_KEY_SIZE_MAX 512

struct function_config;

/* Those of a key, in the order of its members. */
struct labels {
	struct label label[LABELS_MAX];
	size_t count;
	uint32_t key_size;
	int subject;     /* the label that is the plugin instance, -1: none, it is the probe */
	bool has_bucket; /* rows are buckets of histograms, by a number in the key */
	struct label bucket;
};

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
