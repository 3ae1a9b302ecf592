/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PATTERN_H
#define EBPF_PATTERN_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

/* Compiles an extended regular expression; on false `why` says why not, and
 * there is nothing to free. One that repeats what repeats, as (x{99}){99}, is
 * refused where the C library would take gigabytes for it. */
bool pattern_compile(const char *text, regex_t *ret_pattern, char *why, size_t size);

#endif
