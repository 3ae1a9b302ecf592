/* SPDX-License-Identifier: MIT */
#ifndef EBPF_UNIT_H
#define EBPF_UNIT_H

#include <stdbool.h>
#include <stddef.h>

#define UNIT_NAME_MAX 256 /* systemd's, with the NUL */

/* Length of a unit's name without its type: nginx of nginx.service. That of one that has
 * none, or one of a unit without processes, is the whole. */
size_t unit_base_length(const char *name);

/* Can the Unit option take it? false: why not is in words. */
bool unit_is_usable(const char *name, char *why, size_t size);

/* Does a rule hold for all units that another one holds for? */
bool unit_covers(const char *rule, const char *later);

#endif
