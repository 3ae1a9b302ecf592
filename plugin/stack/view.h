/* SPDX-License-Identifier: MIT */
#ifndef EBPF_VIEW_H
#define EBPF_VIEW_H

/* Views: what the stacks of a ring buffer are about. */

#include "config/config.h"
#include "object/object.h"
#include "util/message.h"

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>

#define VIEW_WORD_MAX 32

/* A ring buffer of stacks, by its STACKS tag, see collectd-ebpf-objects(7). */
struct view {
	char name[VIEW_WORD_MAX]; /* lower-case letters, digits and underscores, as in file names */
	char unit[VIEW_WORD_MAX]; /* the same characters */
	bool is_state;
	bool per_cpu;         /* the size that the ring declares is per CPU */
	struct bpf_map *ring; /* the object's */
};

/* All views of an object. */
struct views {
	struct view *item;
	size_t count;
};

/* Parses the text of a tag. -EINVAL, and the error names the word. */
int view_parse(const char *text, struct view *ret_view, struct error *error);

/* Finds and sizes the rings with a STACKS tag in an object that is not loaded yet, except those
 * that the options leave out. -EINVAL, -E2BIG: the error names the map; -ENOMEM. */
int views_find(struct views *views, struct object *object, const struct strings *options,
	       struct error *error);

void views_done(struct views *views);

#endif
