/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FUNCTION_BLOCK_H
#define EBPF_FUNCTION_BLOCK_H

#include "block.h"

/* The options of a Function block, and the block itself, within a Probe block. */
extern const struct option function_options[];

bool function_block_take(struct context *parent, const oconfig_item_t *block);

/* What is known to be wrong with all of them read: what cannot be counted is removed. */
void function_blocks_finish(struct probe_config *probe, struct mistakes *mistakes);

#endif
