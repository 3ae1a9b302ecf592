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

/* The labels of a key, in the order of its members. */
struct labels {
	struct label label[LABELS_MAX];
	size_t count;
	uint32_t key_size;
	int subject;     /* the label that is the plugin instance; -1: the probe is */
	bool has_bucket; /* each row is one bucket of a histogram; the key has its number */
	struct label bucket;
};

/* From now on, labels find names in these tables, which must outlive them. */
void labels_use_names(struct labels *labels, const struct label_names *names);

/* The number that a label reads from a key. */
uint64_t label_value(const struct label *label, const unsigned char *key);

/* Writes the text that a label, which is not a service, has for a key. NAME_NONE: a Decode line
 * leaves out keys with this value. NAME_PENDING: a later reading finds the text. */
enum name_state label_text(const struct label *label, const unsigned char *key,
			   char text[DECODE_TEXT_MAX]);

/* Writes a label's text as series have it, see name_clean(). */
size_t label_clean(char *to, size_t size, const char *text);

/* Another number than before: label_name() may return other names. */
uint64_t labels_generation(const struct labels *labels);

/* The word by which Label lines refer to it. */
const char *label_word(const struct label *label);

/* Is the only label of the type instance one whose names all come from Response lines of Service
 * blocks? */
bool labels_are_configured(const struct labels *labels);

/* Is a CPU the only label? */
bool labels_are_of_cpus(const struct labels *labels);

/* The largest number of labels that a type instance can have. */
size_t labels_in_instance(const struct labels *labels);

void label_done(struct label *label);

/* Has the key no value for this label? Then the label is not part of the name. */
bool label_is_absent(const struct label *label, const unsigned char *key);

/* Is this the key in which the program counts whatever found no room for a key of its own? */
bool label_is_other(const struct label *label, const unsigned char *key);

/* Is it a loop, RAM or zram device? There can be hundreds of them beside the disks. */
bool label_is_virtual_disk(const struct label *label, const unsigned char *key);

/* Sets the names of the label "function" to those of the Function blocks. -ENOMEM. */
int labels_name_functions(struct labels *labels, const struct function_config *functions,
			  size_t count);

void labels_done(struct labels *labels);

#endif
