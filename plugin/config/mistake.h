/* SPDX-License-Identifier: MIT */
#ifndef EBPF_MISTAKE_H
#define EBPF_MISTAKE_H

#include <stdbool.h>
#include <stddef.h>

struct oconfig_item_s;

#define MISTAKE_KINDS_MAX 48

/* Mistakes in a configuration, by kind. */
struct mistakes {
	unsigned ignored; /* lines and blocks */
	size_t kind_count;
	struct mistake_kind {
		int severity;
		const char *format; /* identifies the kind, whatever the values are */
		unsigned count;
		char last[256];
	} kind[MISTAKE_KINDS_MAX];
};

struct mistake_name {
	char text[768];
};

/* How messages call a line (`Interval 5 in <Plugin ebpf>`) or, if where is NULL, a block (`<Service "web">`). */
struct mistake_name mistake_name(const char *where, const struct oconfig_item_s *item);

/* Logs that the line or block of this name is ignored, and why; after a few of one kind they are only counted. Returns
 * false. */
bool mistake_ignore(struct mistakes *mistakes, const char *name, const char *why, ...)
	__attribute__((format(printf, 3, 4)));

/* Logs that it is used, but perhaps not as it was meant. */
void mistake_note(struct mistakes *mistakes, const char *name, const char *what, ...)
	__attribute__((format(printf, 3, 4)));

/* Logs how many more there were of each kind. */
void mistakes_end(const struct mistakes *mistakes);

/* The word that was probably meant, or NULL. The list ends with NULL. */
const char *mistake_near(const char *word, const char *const *words);

#endif
