/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_EXPAND_H
#define EBPF_SYMBOLS_EXPAND_H

/* Compressed symbols. */

#include <stdbool.h>
#include <stddef.h>

#define EXPANDED_MAX (64UL << 20) /* bytes */

/* Was the program built with liblzma? Without it nothing is decompressed. */
extern const bool expand_is_there;

/* Decompresses xz, for free(); NULL: it is invalid, larger than EXPANDED_MAX, or needs more memory
 * than a file of xz -9. */
void *expand_xz(const unsigned char *packed, size_t size, size_t *ret_size);

#endif
