/* SPDX-License-Identifier: MIT */
#ifndef EBPF_NAME_H
#define EBPF_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define SUBJECT_NAME_MAX 128 /* bytes with the NUL: collectd's DATA_MAX_NAME_LEN */

/* Copies a name so that it can be a part of a collectd identifier and of a file name: slashes, spaces, control
 * characters and bytes that are no UTF-8 become '_'. */
void name_clean(char *to, size_t size, const char *name);

/* Is this a name of the plugin's own series, or one that is made of it by appended underscores? name: cleaned */
bool name_is_reserved(const char *name);

#endif
