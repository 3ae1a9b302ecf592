/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_EXPAND_H
#define EBPF_SYMBOLS_EXPAND_H

#include <stdbool.h>
#include <stddef.h>

#define EXPANDED_MAX (64UL << 20) /* bytes */

/* Was this built with liblzma? Otherwise nothing is unpacked. */
extern const bool expand_is_there;

/* What xz has packed, for free(); NULL: it is broken, larger than EXPANDED_MAX, or needs more
 * memory to unpack than xz -9 does. */
void *expand_xz(const unsigned char *packed, size_t size, size_t *ret_size);

#endif
