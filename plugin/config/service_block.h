/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SERVICE_BLOCK_H
#define EBPF_SERVICE_BLOCK_H

#include "block.h"

extern const struct option service_options[];

bool service_block_take(struct context *parent, const oconfig_item_t *block);

#endif
