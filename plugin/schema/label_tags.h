/* SPDX-License-Identifier: MIT */
#ifndef EBPF_LABEL_TAGS_H
#define EBPF_LABEL_TAGS_H

#include "label.h"
#include "tag.h"
#include "util/message.h"

#include <bpf/btf.h>
#include <stdint.h>

/* Reads the LABEL tags of a map's key type, or, for a key that is an integer, the word label= of
 * its SUBJECT. The error names map, member and word: -EINVAL, -E2BIG, -ENOMEM. */
int labels_read(struct labels *labels, const struct btf *btf, const char *map, uint32_t key_type,
		uint32_t key_size, const struct subject_tag *subject, struct error *error);

#endif
