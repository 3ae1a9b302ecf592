/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FILE_TAG_H
#define EBPF_FILE_TAG_H

#include "util/kernel_directory.h"
#include "util/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILE_PATH_MAX 256
#define TEXT_FIELDS_MAX 128 /* of a table */
#define FIELD_NAME_MAX 64
#define FILE_CONTROLLER_MAX 16
#define FIELD_POSITION_MAX 65535
#define FIELD_DECIMALS_MAX 9

/* How a text is split into rows, and its lines into fields; see collectd-ebpf-objects(7). */
enum file_form { FORM_KEYS, FORM_PAIRS, FORM_LINES, FORM_HEADER, FORM_CELLS };

/* A parsed FILE tag. */
struct file_tag {
	enum kernel_fs root;
	char path[FILE_PATH_MAX]; /* below the directory; for cgroups the name of a file */
	enum file_form form;
	unsigned skip;             /* lines at the start that have no rows */
	char only[FIELD_NAME_MAX]; /* glob for the first word of a line; empty: any */
	/* For cgroups: */
	char controller[FILE_CONTROLLER_MAX]; /* whose v1 hierarchy has the file; empty: cgroup2 */
	char limited[FIELD_NAME_MAX];         /* file that must contain a limit; empty: none */
	bool is_optional;                     /* a missing file is not logged */
	bool is_single;                       /* services with several cgroups have no row */
	bool is_highest; /* of several cgroups, the largest value or growth counts, not the sum */
};

/* A parsed FIELD tag: a word of a line. */
struct field_tag {
	bool is_match; /* the text that the * of the path stands for, rather than a word */
	char line[FIELD_NAME_MAX]; /* first word of the line; empty: any line */
	char word[FIELD_NAME_MAX]; /* name of the word; empty: it is found by position */
	uint32_t position;         /* counted from 1; 0: it is found by name */
	unsigned decimals;         /* digits behind the decimal point that are part of the number */
	bool is_hex;
};

/* Parses the text of a tag without its prefix "file:". -EINVAL: the error names what is wrong. */
int file_tag_parse(const char *text, struct file_tag *ret_tag, struct error *error);

/* Parses the text of a tag without its prefix "field:", for a table with this FILE. -EINVAL: the
 * error names what is wrong. */
int field_tag_parse(const char *text, const struct file_tag *file, struct field_tag *ret_tag,
		    struct error *error);

/* Does a name of this length match a glob whose only wildcard is one *? */
bool name_matches(const char *glob, const char *name, size_t length);

/* The component of a path that has a *, and its length; NULL: there is none. */
const char *path_wildcard(const char *path, size_t *ret_length);

#endif
