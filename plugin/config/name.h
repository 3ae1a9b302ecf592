/* SPDX-License-Identifier: MIT */
#ifndef EBPF_NAME_H
#define EBPF_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define SUBJECT_NAME_MAX 128 /* bytes with the NUL: collectd's DATA_MAX_NAME_LEN */
#define SUBJECT_TEXT_MAX 256 /* of a text that a name is made of, which need not be clean */
#define NAME_SUFFIX_LENGTH 9 /* '+' and 8 digits */

/* Writes a name as series have it: of ASCII letters, digits and "_-.@:+". Any other letter, and any byte that is no
 * UTF-8, becomes '_'. It is neither empty nor "." nor "..". Returns its length, also if that is more than fits. */
size_t name_clean(char *to, size_t size, const char *name);

/* Writes the clean name. A name that is cut ends with '+' and 8 digits, a hash of the whole name. So does each further
 * attempt (from 1 on) to find a name that no other has; each has other digits. size: more than NAME_SUFFIX_LENGTH. */
void name_attempt(char *to, size_t size, const char *name, unsigned attempt);

/* Are two characters of names the same for all receivers? Graphite has '_' for '.'. */
bool name_same_letter(char a, char b);

/* Are two clean names the same for a receiver? */
bool name_is_same(const char *a, const char *b);

/* Is this a name of the plugin's own series, or one that is made of it by appended underscores? name: cleaned */
bool name_is_reserved(const char *name);

/* Writes a name for a message: bytes other than those of printable ASCII as \xHH. It is cut if it does not fit. */
void name_escape(char *to, size_t size, const char *name);

#endif
