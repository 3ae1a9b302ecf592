/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SERVICE_BLOCK_H
#define EBPF_SERVICE_BLOCK_H

#include "block.h"

extern const struct option service_options[];

bool service_block_parse(struct context *parent, const oconfig_item_t *block);

/* Checks all Service blocks when they have been read; those without a rule are removed. */
void service_blocks_finish(struct config *config, struct mistakes *mistakes);

#endif
