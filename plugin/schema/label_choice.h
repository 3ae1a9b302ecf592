/* SPDX-License-Identifier: MIT */
#ifndef EBPF_LABEL_CHOICE_H
#define EBPF_LABEL_CHOICE_H

#include "config/config.h"
#include "label.h"

#include <stdbool.h>
#include <stddef.h>

/* Which rows of a table of keys have series: for each label the globs of the Probe block, one of
 * which its name has to match; NULL: any name. */
struct label_choice {
	const struct strings *globs[LABELS_MAX];
};

/* The choice of a block for keys with these labels; the block must outlive it. */
struct label_choice label_choice_of(const struct probe_config *block, const struct labels *labels);

/* Does the name of label i match? */
bool label_choice_fits(const struct label_choice *choice, size_t i, const char *name);

/* Logs each Label line whose label is in none of these `count` tables, and each of its names that
 * can never occur. probe: for messages. */
void label_choice_check(const struct probe_config *block, const struct labels *const *labels,
			size_t count, const char *probe);

#endif
