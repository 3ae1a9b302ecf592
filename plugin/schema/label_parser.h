/* SPDX-License-Identifier: MIT */
#ifndef EBPF_LABEL_PARSER_H
#define EBPF_LABEL_PARSER_H

#include "label.h"
#include "tag.h"
#include "util/message.h"

#include <bpf/btf.h>
#include <stdint.h>

/* Who makes labels of what is said of the members of a key, by tags or by a block. */
struct label_parser {
	struct labels *labels;
	const struct btf *btf; /* of the object, or NULL */
	const char *map;
	struct error *error;
};

/* -EINVAL, and why it is not this member. */
int label_bad(const struct label_parser *r, const char *member, const char *why);

/* Takes the names of an enum in the order of their values. -E2BIG, -ENOMEM. */
int label_read_enumerators(const struct label_parser *r, const struct btf_type *type,
			   struct label *label);

/* Is it an array of bytes? Its size, else 0. */
uint32_t label_text_size(const struct btf *btf, const struct btf_type *type);

/* One more, when nothing is wrong with it. -E2BIG. */
int label_add(const struct label_parser *r, const char *member, const struct label *label);

/* Which label is the plugin instance, by its kind; -1: none. */
int label_find_subject(const struct labels *labels);

/* -EINVAL: a service is not where there is room for one. */
int label_check_services(const struct label_parser *r, const struct subject_tag *subject);

#endif
