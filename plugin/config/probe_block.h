/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PROBE_BLOCK_H
#define EBPF_PROBE_BLOCK_H

#include "block.h"

extern const struct option probe_options[];

bool probe_block_parse(struct context *parent, const oconfig_item_t *block);

#endif
