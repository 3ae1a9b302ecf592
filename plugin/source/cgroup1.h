/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CGROUP1_H
#define EBPF_CGROUP1_H

#include <stddef.h>
#include <sys/types.h>

#define CGROUP1_TEXT_MAX 1024 /* bytes of a file that is said in other words */

/* Files of controllers with a hierarchy of their own (v1), as those of cgroup2 that say the
 * same. */
struct cgroup1_file {
	const char *name;   /* of cgroup2's */
	const char *file;   /* of v1's */
	const char *second; /* another one that it takes; NULL: none */
	/* Says it in the words of cgroup2; its length, or -EINVAL: it is not such a file. */
	ssize_t (*say)(const char *text, size_t length, const char *second, size_t second_length,
		       char to[CGROUP1_TEXT_MAX]);
};

/* NULL: v1 has nothing like it. */
const struct cgroup1_file *cgroup1_file(const char *name);

#endif
