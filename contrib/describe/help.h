/* SPDX-License-Identifier: MIT */
#ifndef EBPF_HELP_H
#define EBPF_HELP_H

#include "plugin/util/message.h"

#define HELP_UNIT_MAX 48
#define HELP_TITLE_MAX 64
#define HELP_TEXT_MAX 256

/* What a person is told of a series, an event or a probe. */
struct help {
	char title[HELP_TITLE_MAX];
	char text[HELP_TEXT_MAX]; /* empty: the title says all */
};

/* A HELP tag behind its prefix: "TITLE" or "TITLE: TEXT", of printable ASCII without a bar, which a
 * table would take for its own. -EINVAL: the error says what it lacks, ret_help is untouched. */
int help_parse(const char *text, struct help *ret_help, struct error *error);

/* A UNIT tag behind its prefix: one or more words, of the same letters. */
int help_unit(const char *text, char ret_unit[HELP_UNIT_MAX], struct error *error);

#endif
