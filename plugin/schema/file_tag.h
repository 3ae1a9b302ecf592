/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FILE_TAG_H
#define EBPF_FILE_TAG_H

#include "util/message.h"
#include "util/pseudo_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILE_PATH_MAX 256
#define TEXT_FIELDS_MAX 128 /* of a table */
#define FIELD_NAME_MAX 64
#define FILE_CONTROLLER_MAX 16
#define FIELD_POSITION_MAX 65535
#define FIELD_DECIMALS_MAX 9

/* How the lines of a text are rows and their words fields; see bpf/lib/metric.bpf.h. */
enum file_form { FORM_KEYS, FORM_PAIRS, FORM_LINES, FORM_HEADER, FORM_CELLS };

/* A FILE tag, taken apart. */
struct file_tag {
	enum pseudo_root root;
	char path[FILE_PATH_MAX]; /* below the root; of cgroups the name of a file */
	enum file_form form;
	unsigned skip;             /* lines at the begin that are none */
	char only[FIELD_NAME_MAX]; /* what the first word of a line is like; empty: anything */
	/* Of cgroups: */
	char controller[FILE_CONTROLLER_MAX]; /* in whose hierarchy it is; empty: that of cgroup2 */
	char limited[FIELD_NAME_MAX]; /* the file of a cgroup that must have a limit; empty: none */
	bool is_optional;             /* that it is missing need not be told */
	bool is_single;               /* of a service with several cgroups there is none */
	bool is_highest;              /* of several, what has grown most or is highest */
};

/* A FIELD tag, taken apart: a word of a line. */
struct field_tag {
	bool is_match;             /* what the path's asterisk stands for, and no word at all */
	char line[FIELD_NAME_MAX]; /* the first word of that line; empty: of any */
	char word[FIELD_NAME_MAX]; /* what it is called; empty: by position */
	uint32_t position;         /* counted from 1; 0: by name */
	unsigned decimals;         /* digits behind the point that belong to the number */
	bool is_hex;
};

/* text without the prefix "file:". -EINVAL: the error names what is wrong. */
int file_tag_parse(const char *text, struct file_tag *ret_tag, struct error *error);

/* text without the prefix "field:", of a table with this FILE. Likewise. */
int field_tag_parse(const char *text, const struct file_tag *file, struct field_tag *ret_tag,
		    struct error *error);

/* Is a name of so many bytes like a pattern, in which one asterisk stands for anything? */
bool pattern_fits(const char *pattern, const char *name, size_t length);

/* The component of a path that has an asterisk, and its length; NULL: none has. */
const char *path_pattern(const char *path, size_t *ret_length);

#endif
