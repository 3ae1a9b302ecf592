/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FUNCTION_BLOCK_H
#define EBPF_FUNCTION_BLOCK_H

#include "block.h"

/* Function blocks, within Probe blocks. */
extern const struct option function_options[];

bool function_block_parse(struct context *parent, const oconfig_item_t *block);

/* Checks all Function blocks of a probe when they have been read; those that cannot be counted are removed. */
void function_blocks_finish(struct probe_config *probe, struct mistakes *mistakes);

#endif
