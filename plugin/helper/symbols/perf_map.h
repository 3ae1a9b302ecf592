/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_PERF_MAP_H
#define EBPF_SYMBOLS_PERF_MAP_H

/* Maps that programs write for perf of the code that they generate. */

#include "naming.h"

#include <stdint.h>

#define PERF_MAP_MAX (128UL << 20) /* bytes; of a larger map only the end is read */

/* Names code that a program has generated, each for naming_done(), by the map for perf that is open
 * as fd: lines of START SIZE NAME, with hexadecimal numbers. Of several lines for one address the
 * last counts. -ENOEXEC: the file has no such line; -ENOMEM. */
int perf_map_name(int fd, const uint64_t *addresses, size_t count, struct naming *ret_namings);

#endif
