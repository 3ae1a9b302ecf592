/* SPDX-License-Identifier: MIT */
#ifndef EBPF_UNIT_H
#define EBPF_UNIT_H

#include <stdbool.h>
#include <stddef.h>

#define UNIT_NAME_MAX 256 /* systemd's, with the NUL */

/* The length of a unit's name without its type: nginx of nginx.service. The whole length of a name without a type,
 * or of a unit without processes. */
size_t unit_base_length(const char *name);

/* Can the Unit option take it? false: `why` says why not. */
bool unit_is_usable(const char *name, char *why, size_t size);

/* Does a rule fit all units that the later one fits? */
bool unit_covers(const char *rule, const char *later);

#endif
