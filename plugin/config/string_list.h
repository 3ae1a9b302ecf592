/* SPDX-License-Identifier: MIT */
#ifndef EBPF_STRING_LIST_H
#define EBPF_STRING_LIST_H

#include <stddef.h>

struct strings {
	char **item;
	size_t count;
};

void strings_done(struct strings *list);

#endif
