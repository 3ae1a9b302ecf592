/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FRAME_TEXT_H
#define EBPF_FRAME_TEXT_H

#include <stddef.h>

#define FRAME_TEXT_MAX 2048 /* bytes of a line, with the NUL */

/* Writes the line of a folded file, without its value, for the text of a record (see
 * bpf/lib/stack.h): "var;lib;db;wal;[write]". Names are cleaned like those of series, and have no
 * semicolon. If the text is longer than the room, the outermost names are left out. An empty text
 * becomes "[unknown]". size: of `to`, 16 bytes or more. */
void frame_text(const char *text, size_t length, char *to, size_t size);

#endif
