/* SPDX-License-Identifier: MIT */
#ifndef EBPF_VIEW_H
#define EBPF_VIEW_H

#include "config/config.h"
#include "object/object.h"
#include "util/message.h"

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>

#define VIEW_WORD_MAX 32

/* What the stacks in a ring buffer are, by its STACKS tag: see bpf/lib/metric.bpf.h. */
struct view {
	char name[VIEW_WORD_MAX]; /* small letters, digits and underscores, as in names of files */
	char unit[VIEW_WORD_MAX]; /* likewise */
	bool is_state;
	bool per_cpu;         /* the ring's size is for each CPU */
	struct bpf_map *ring; /* the object's */
};

/* All of an object. */
struct views {
	struct view *item;
	size_t count;
};

/* Reads the text of a tag. -EINVAL, and the error names the word. */
int view_parse(const char *text, struct view *ret_view, struct error *error);

/* Finds the rings with a STACKS tag of an object that is not loaded yet, as far as these options
 * let it have them, and sizes them. -EINVAL, -E2BIG: the error names the map; -ENOMEM. */
int views_find(struct views *views, struct object *object, const struct strings *options,
	       struct error *error);

void views_done(struct views *views);

#endif
