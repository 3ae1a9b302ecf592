/* SPDX-License-Identifier: MIT */
#ifndef EBPF_GLOB_H
#define EBPF_GLOB_H

/* Globs: * ? [] in names. */

#include <stdbool.h>

/* Does the glob match the whole text? * is any text, ? one byte, [a-z] one of these, [!a-z] one of
 * the others. Every other character stands for itself, including the backslash of systemd's \x2d.
 * The time is bounded by the product of the two lengths. */
bool glob_match(const char *glob, const char *text);

/* Has each [ its ]? One without it stands for itself, which is hardly ever meant. */
bool glob_is_whole(const char *glob);
#define GLOB_NOT_WHOLE \
	"its [ has no ]; brackets enclose the characters of which one stands there, as in \"web[0-9]\""

/* Does the text have a wildcard? */
bool glob_has_wildcard(const char *text);

#endif
