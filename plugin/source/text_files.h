/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TEXT_FILES_H
#define EBPF_TEXT_FILES_H

#include "config/config.h"
#include "text_file.h"

/* Lists the files that do not depend on what exists: a single one, or, with a configuration, one
 * for each cgroup that a Service block names, except below another one of the same service.
 * -ENOMEM, -E2BIG. */
int text_files_init(struct text_files *files, const struct file_tag *tag,
		    const struct config *config);

/* Updates the list of files that match the glob, or of cgroups in `service_cgroups`. Opens the root if
 * that was missing. -ENOMEM; -E2BIG: there are more files; or the error of the root or of the
 * directory. */
int text_files_update(struct text_files *files);

#endif
