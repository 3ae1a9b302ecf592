/* SPDX-License-Identifier: MIT */
#ifndef EBPF_NAME_H
#define EBPF_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SUBJECT_NAME_MAX 128 /* bytes with the NUL: collectd's DATA_MAX_NAME_LEN */
#define SUBJECT_TEXT_MAX 256 /* of a text that a name is made of, which need not be clean */
#define NAME_SUFFIX_LENGTH 9 /* '+' and 8 digits */

/* Writes a name as series have it: of ASCII letters, digits and "_-.@:+". Any other letter, and any byte that is no
 * UTF-8, becomes '_'. It is neither empty nor "." nor "..". Returns its length, also if that is more than fits. */
size_t name_clean(char *to, size_t size, const char *name);

/* Appends '+' and 8 digits to a clean name, which is cut if needed. Each attempt to find a name that no other has gets
 * other digits. origin: hash of the text that the name was made of; size: more than NAME_SUFFIX_LENGTH. */
void name_append_hash(char *name, size_t size, uint64_t origin, unsigned attempt);

/* Writes the clean name. A name that is cut has a hash of the whole name appended, and so has each further attempt, from 1
 * on. */
void name_attempt(char *to, size_t size, const char *name, unsigned attempt);

/* The letter that a receiver may have for this one: Graphite has '_' for '.'. */
char name_fold(char c);

/* Are two clean names the same for a receiver? */
bool name_is_same(const char *a, const char *b);

/* Is this a name of the plugin's own series, or one that is made of it by appended underscores? name: cleaned */
bool name_is_reserved(const char *name);

/* Writes a name for a message: bytes other than those of printable ASCII as \xHH. It is cut if it does not fit. */
void name_escape(char *to, size_t size, const char *name);

#endif
