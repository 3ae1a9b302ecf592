/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PROFILES_BLOCK_H
#define EBPF_PROFILES_BLOCK_H

#include "block.h"

extern const struct option profiles_options[];

option_fn profiles_block_parse;

#endif
