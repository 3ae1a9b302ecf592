/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TEXT_CGROUPS_H
#define EBPF_TEXT_CGROUPS_H

#include "config/config.h"
#include "text_file.h"

#include <stdbool.h>

/* The files of the cgroups that Service blocks have by Cgroup. -ENOMEM, -E2BIG. */
int text_cgroups_configured(struct text_files *files, const struct config *config);

/* Brings those of units, users and containers up to date; likewise, or what places_status()
 * says. */
int text_cgroups_update(struct text_files *files);

/* Has the row of a file's service gone to another one, or is what it says in another one's? */
bool text_cgroup_is_stale(const struct text_files *files, const struct text_file *file);

#endif
