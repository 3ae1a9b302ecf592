/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_MADE_H
#define EBPF_SYMBOLS_MADE_H

#include "naming.h"

#include <stdint.h>

#define MADE_MAX (128UL << 20) /* bytes: of a larger map the end counts */

/* Names code that a program has made while it ran, each for naming_done(), by the map for perf that is
 * open as fd: lines of START SIZE NAME, the numbers in hexadecimal digits. Of several lines for one
 * address the last one counts. -ENOEXEC: it has no such line; -ENOMEM. */
int made_name(int fd, const uint64_t *addresses, size_t count, struct naming *ret_namings);

#endif
