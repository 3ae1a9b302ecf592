/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TABLE_BLOCK_H
#define EBPF_TABLE_BLOCK_H

#include "block.h"

extern const struct option table_options[], key_options[], value_options[];

/* <Table "MAP"> of a Probe block. */
bool table_block_parse(struct context *parent, const oconfig_item_t *block);

#endif
