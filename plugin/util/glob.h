/* SPDX-License-Identifier: MIT */
#ifndef EBPF_GLOB_H
#define EBPF_GLOB_H

#include <stdbool.h>

/* Does the whole text fit a pattern: * any text, ? one byte, [a-z] one of these, [!a-z] one of the others?
 * Every other character stands for itself, the backslash of systemd's \x2d too. Takes no longer
 * than the product of their lengths. */
bool glob_match(const char *pattern, const char *text);

/* Has each [ its ]? One that has none stands for itself, which is hardly ever meant. */
bool glob_is_whole(const char *pattern);
#define GLOB_NOT_WHOLE \
	"its [ has no ]; brackets hold the characters of which one stands there, as in \"web[0-9]\""

/* Has it a wildcard? */
bool glob_is_pattern(const char *text);

#endif
