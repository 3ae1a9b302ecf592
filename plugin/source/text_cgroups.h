/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TEXT_CGROUPS_H
#define EBPF_TEXT_CGROUPS_H

#include "config/config.h"
#include "text_file.h"

#include <stdbool.h>

/* Lists the files of the cgroups that Service blocks name by Cgroup. -ENOMEM, -E2BIG. */
int text_cgroups_configured(struct text_files *files, const struct config *config);

/* Updates the list of those of units, users and containers. -ENOMEM, -E2BIG, or an error of
 * service_cgroups_status(). */
int text_cgroups_update(struct text_files *files);

/* Was the row of the file's service reassigned, or do the figures of another file include this
 * one's? */
bool text_cgroup_is_stale(const struct text_files *files, const struct text_file *file);

#endif
