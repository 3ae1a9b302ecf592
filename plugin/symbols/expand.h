/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_EXPAND_H
#define EBPF_SYMBOLS_EXPAND_H

#include <stddef.h>

#define EXPANDED_MAX (64UL << 20) /* bytes */

/* What xz has packed, for free(); NULL: it is broken, larger than EXPANDED_MAX, or this was built
 * without liblzma. */
void *expand_xz(const unsigned char *packed, size_t size, size_t *ret_size);

#endif
