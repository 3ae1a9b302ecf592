/* SPDX-License-Identifier: MIT */
#ifndef EBPF_LABEL_BLOCK_H
#define EBPF_LABEL_BLOCK_H

#include "config/table_config.h"
#include "label.h"
#include "map_shape.h"
#include "util/message.h"

#include <bpf/btf.h>

/* Reads the Key blocks of a Table block; without any, all rows are summed. The error names map,
 * block and word: -EINVAL, -E2BIG, -ENOMEM. The block must outlive the labels. */
int labels_describe(struct labels *labels, const struct btf *btf, const struct map_shape *map,
		    const struct table_config *block, struct error *error);

#endif
