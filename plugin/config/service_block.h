/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SERVICE_BLOCK_H
#define EBPF_SERVICE_BLOCK_H

#include "block.h"

extern const struct option service_options[];

bool service_block_take(struct context *parent, const oconfig_item_t *block);

/* What is known to be wrong with all of them read: blocks without a process are removed. */
void service_blocks_finish(struct config *config, struct mistakes *mistakes);

#endif
