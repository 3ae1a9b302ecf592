/* SPDX-License-Identifier: MIT */
#ifndef EBPF_FOLDED_FILE_H
#define EBPF_FOLDED_FILE_H

#include "folded.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define FOLDED_SERVICE_MAX 128 /* with the NUL */
#define FOLDED_VIEW_MAX 24
#define FOLDED_HOUR_MAX sizeof("YYYYMMDD-HH")
#define FOLDED_NAME_MAX 192 /* of a file */
#define FOLDED_LINES_MAX 20000
#define FOLDED_BYTES_MAX (8 << 20)

/* SERVICE-VIEW-YYYYMMDD-HH.folded. A view has no hyphen, so the last ones tell the parts, whatever the
 * service is called. */
struct folded_name {
	char service[FOLDED_SERVICE_MAX];
	char view[FOLDED_VIEW_MAX];
	char hour[FOLDED_HOUR_MAX]; /* later ones sort behind */
};

/* The hour of local time that this moment lies in. */
void folded_hour(time_t when, char hour[FOLDED_HOUR_MAX]);

/* Lower-case letters, digits and underscores. */
bool folded_is_view(const char *view);

void folded_name_text(const struct folded_name *name, char text[FOLDED_NAME_MAX]);
bool folded_name_parse(const char *text, struct folded_name *ret_name);

/* Adds what a file holds. Errors of openat(2) and read(2); -ELOOP, -EINVAL: it is a link, or no
 * regular file; -ENOMEM. */
int folded_read(int directory, const char *file, struct folded *to);

/* Writes a new file, which takes the place of the one of this name; of what is in the way that is no
 * regular file, -EEXIST. ret_size: what it takes on the disk. */
int folded_write(int directory, const char *file, const struct folded *from, uint64_t *ret_size);

#endif
