/* SPDX-License-Identifier: MIT */
#ifndef EBPF_LABEL_PARSER_H
#define EBPF_LABEL_PARSER_H

#include "label.h"
#include "tag.h"
#include "util/message.h"

#include <bpf/btf.h>
#include <stdint.h>

/* What a parser of labels needs, whether it reads tags or a block. */
struct label_parser {
	struct labels *labels;
	const struct btf *btf; /* of the object, or NULL */
	const char *map;
	struct error *error;
};

/* Sets the error to what is wrong with this member of the key. Returns -EINVAL. */
int label_bad(const struct label_parser *r, const char *member, const char *why);

/* Copies the enumerators of an enum, ordered by value. -E2BIG, -ENOMEM. */
int label_read_enumerators(const struct label_parser *r, const struct btf_type *type,
			   struct label *label);

/* The size of an array of bytes; 0: the type is something else. */
uint32_t label_text_size(const struct btf *btf, const struct btf_type *type);

/* Checks a label and appends it; the labels then own what is in it. -EINVAL, -E2BIG. */
int label_add(const struct label_parser *r, const char *member, const struct label *label);

/* The index of the label that is the plugin instance, by its kind; -1: none. */
int label_find_subject(const struct labels *labels);

/* -EINVAL: there is a service that cannot be the plugin instance. */
int label_check_services(const struct label_parser *r, const struct subject_tag *subject);

#endif
