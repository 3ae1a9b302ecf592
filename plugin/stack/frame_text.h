/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FRAME_TEXT_H
#define EBPF_FRAME_TEXT_H

#include <stddef.h>

#define FRAME_TEXT_MAX 2048 /* of a line, with the NUL */

/* The line of a folded file that the text of a record says (see bpf/lib/stack.h), without its value:
 * "var;lib;db;wal;[write]". Names are cleaned, as those of series are, and have no semicolon. Of a
 * text that is longer than the room the outermost names are left out. "[unknown]" of an empty one.
 * size: of `to`, 16 bytes or more. */
void frame_text(const char *text, size_t length, char *to, size_t size);

#endif
