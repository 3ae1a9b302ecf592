/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TEXT_FILES_H
#define EBPF_TEXT_FILES_H

#include "config/config.h"
#include "text_file.h"

/* Finds those that are there whether they exist or not: one, or, with a configuration, one for each
 * cgroup that it gives a service by Cgroup, but for those below another one of the same service.
 * -ENOMEM, -E2BIG. */
int text_files_init(struct text_files *files, const struct file_tag *tag,
		    const struct config *config);

/* Brings those that an asterisk stands for up to date, or those of `places`, and finds the root
 * where it was missing. -ENOMEM; -E2BIG: there are more; or what the root or the directory says. */
int text_files_update(struct text_files *files);

#endif
