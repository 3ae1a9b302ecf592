/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CGROUP1_H
#define EBPF_CGROUP1_H

#include <stddef.h>
#include <sys/types.h>

#define CGROUP1_TEXT_MAX 1024 /* bytes of a translated file */

/* A file of a controller with a hierarchy of its own (v1) that corresponds to one of cgroup2. */
struct cgroup1_file {
	const char *name;   /* of the file of cgroup2 */
	const char *file;   /* of v1 */
	const char *second; /* a second file that the translation needs; NULL: none */
	/* Translates the text. Returns the new length, or -EINVAL: the text is malformed. */
	ssize_t (*translate)(const char *text, size_t length, const char *second,
			     size_t second_length, char to[CGROUP1_TEXT_MAX]);
};

/* NULL: v1 has no such file. */
const struct cgroup1_file *cgroup1_file(const char *name);

#endif
