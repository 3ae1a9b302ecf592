/* SPDX-License-Identifier: MIT */
/*
 * The decompressor of a build without liblzma.
 */
#include "expand.h"

const bool expand_is_there = false;

void *expand_xz(const unsigned char *packed, size_t size, size_t *ret_size)
{
	(void)packed;
	(void)size;
	(void)ret_size;
	return NULL;
}
