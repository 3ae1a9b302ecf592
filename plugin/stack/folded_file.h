/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FOLDED_FILE_H
#define EBPF_FOLDED_FILE_H

/* Names of folded files, and reading and writing them. */

#include "folded.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define FOLDED_SERVICE_MAX 128 /* with the NUL */
#define FOLDED_VIEW_MAX 24
#define FOLDED_HOUR_MAX sizeof("YYYYMMDD-HH")
#define FOLDED_NAME_MAX 192 /* bytes of a file's name, with the NUL */
#define FOLDED_LINES_MAX 20000
#define FOLDED_BYTES_MAX (8 << 20)

/* SERVICE-VIEW-YYYYMMDD-HH.folded. A view has no hyphen, so the parts can be told apart from the
 * end, whatever hyphens the service has. */
struct folded_name {
	char service[FOLDED_SERVICE_MAX];
	char view[FOLDED_VIEW_MAX];
	char hour[FOLDED_HOUR_MAX]; /* sorts by time as text */
};

/* Writes the hour of local time that `when` is in. */
void folded_hour(time_t when, char hour[FOLDED_HOUR_MAX]);

/* Is it a valid name of a view: lower-case letters, digits and underscores? */
bool folded_is_view(const char *view);

void folded_name_text(const struct folded_name *name, char text[FOLDED_NAME_MAX]);
bool folded_name_parse(const char *text, struct folded_name *ret_name);

/* Adds the lines of a file. Errors of openat(2) and read(2); -ELOOP: it is a link; -EINVAL: it is
 * not regular; -ENOMEM. */
int folded_read(int directory, const char *file, struct folded *to);

/* Writes a new file and moves it over the one of this name. -EEXIST: something of this name is no
 * regular file. ret_size: bytes that it takes on the disk. */
int folded_write(int directory, const char *file, const struct folded *from, uint64_t *ret_size);

#endif
