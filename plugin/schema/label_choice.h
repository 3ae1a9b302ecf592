/* SPDX-License-Identifier: MIT */
#ifndef EBPF_LABEL_CHOICE_H
#define EBPF_LABEL_CHOICE_H

#include "config/config.h"
#include "label.h"

#include <stdbool.h>

/* Which rows of a table of keys have series: of each label the patterns of the Probe block, one of which
 * its name has to fit; NULL: any does. */
struct label_choice {
	const struct strings *patterns[LABELS_MAX];
};

/* That of a block for keys with these labels; the block must outlive it. */
struct label_choice label_choice_of(const struct probe_config *block, const struct labels *labels);

/* Does the name of label i fit? */
bool label_choice_fits(const struct label_choice *choice, size_t i, const char *name);

/* Tells which lines of the block are about labels that none of these has, `count` of them, and which names
 * nothing is ever called. probe: for messages. */
void label_choice_check(const struct probe_config *block, const struct labels *const *labels,
			size_t count, const char *probe);

#endif
