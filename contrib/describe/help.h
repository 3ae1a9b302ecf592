/* SPDX-License-Identifier: MIT */
#ifndef EBPF_HELP_H
#define EBPF_HELP_H

#include "plugin/util/message.h"

#define HELP_UNIT_MAX 48
#define HELP_TITLE_MAX 64
#define HELP_TEXT_MAX 256

/* Explains a series, an event or a probe to its users. */
struct help {
	char title[HELP_TITLE_MAX];
	char text[HELP_TEXT_MAX]; /* empty: the title is enough */
};

/* Parses a HELP tag without its prefix: "TITLE" or "TITLE: TEXT", of printable ASCII. A bar is
 * refused, as it would end a cell of a table. -EINVAL: the error says what is wrong, ret_help is
 * untouched. */
int help_parse(const char *text, struct help *ret_help, struct error *error);

/* Parses a UNIT tag without its prefix: one or more words of the same characters. */
int help_unit(const char *text, char ret_unit[HELP_UNIT_MAX], struct error *error);

#endif
