/* SPDX-License-Identifier: MIT */
/*
 * Decompresses symbols with liblzma.
 */
#include "expand.h"

#include <lzma.h>
#include <stdint.h>
#include <stdlib.h>

#define MEMORY_MAX (80UL << 20) /* bytes, in addition to the decompressed ones */

const bool expand_is_there = true;

void *expand_xz(const unsigned char *packed, size_t size, size_t *ret_size)
{
	uint64_t memory = MEMORY_MAX;
	size_t in = 0, out = 0;
	uint8_t *bytes = malloc(EXPANDED_MAX), *fitting;

	if (!bytes || lzma_stream_buffer_decode(&memory, 0, NULL, packed, &in, size, bytes, &out,
						EXPANDED_MAX) != LZMA_OK) {
		free(bytes);
		return NULL;
	}
	fitting = realloc(bytes, out ? out : 1);
	*ret_size = out;
	return fitting ? fitting : bytes;
}
