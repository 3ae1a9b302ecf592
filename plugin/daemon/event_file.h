/* SPDX-License-Identifier: MIT */
#ifndef EBPF_EVENT_FILE_H
#define EBPF_EVENT_FILE_H

#include "util/message.h"

#include <stddef.h>

#define EVENT_FILE_SIZE_MAX (1U << 20) /* of the file, and of the one before */

/* Appends lines to a file, all or none. Makes it with mode 0640, and its directory if the one above exists. A file
 * that would become larger than EVENT_FILE_SIZE_MAX is renamed to PATH.1 first, which it replaces. length may be 0.
 * Waits for the disk. -EEXIST, -EPERM: the file or its directory is not ours alone; or an errno of what failed. The
 * error tells the remedy. */
int event_file_append(const char *path, const char *lines, size_t length, struct error *error);

#endif
