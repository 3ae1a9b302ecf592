/* SPDX-License-Identifier: MIT */
#ifndef EBPF_RETENTION_H
#define EBPF_RETENTION_H

/* Removes folded files. */

#include "folded_file.h"

#include <stdbool.h>

/* How many folded files a directory may have. Files of other names are left alone. */
struct retention_limits {
	const char *oldest_hour; /* files of earlier hours are removed */
	const char *hour;        /* the hour now */
	uint64_t size_max;       /* bytes on the disk, of all files */
};

/* Removes files that are too old; then, if the limit is exceeded, the oldest, of one hour the
 * largest first, until a sixteenth of it is free. ret_size: bytes that remain. 0 or a negative
 * errno; -ENOSPC: files of this hour had to be removed, too. */
int retention_limit(int directory, const struct retention_limits *limits, uint64_t *ret_size);

/* Removes the files of a view and hour for which is_active(with, name) is false. */
int retention_remove(int directory, const char *view, const char *hour,
		     bool (*is_active)(void *with, const struct folded_name *name), void *with);

#endif
