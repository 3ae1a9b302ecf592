/* SPDX-License-Identifier: MIT */
#ifndef EBPF_KEPT_FILES_H
#define EBPF_KEPT_FILES_H

#include "folded_file.h"

#include <stdbool.h>

/* What a directory of folded files keeps. Files of other names are no concern of ours. */
struct kept_limits {
	const char *oldest_hour; /* older ones are removed */
	const char *hour;        /* that is now */
	uint64_t size_max;       /* bytes on the disk, of all files */
};

/* Removes what is too old, then the oldest files until there is some room below the limit, of an hour
 * the largest first. ret_size: what is left. 0 or a negative errno; -ENOSPC: files of this hour had to
 * go, too. */
int kept_files_limit(int directory, const struct kept_limits *limits, uint64_t *ret_size);

/* Removes the files of a view and hour that `is_kept` does not say yes to. */
int kept_files_remove(int directory, const char *view, const char *hour,
		      bool (*is_kept)(void *with, const struct folded_name *name), void *with);

#endif
