/* SPDX-License-Identifier: MIT */
#ifndef EBPF_BLOCK_H
#define EBPF_BLOCK_H

#include "config.h"
#include "mistake.h"

#include <liboconfig/oconfig.h>
#include <stdbool.h>
#include <stddef.h>

struct context;

/* Takes the values of an option; false: it is ignored, which has been told. */
typedef bool option_fn(struct context *context, const oconfig_item_t *item);

struct option {
	const char *name;
	option_fn *take;
	enum {
		ONCE,
		OFTEN,
		NEEDED, /* often, and a block without any of these means nothing */
		BLOCK,
	} kind;
};

/* A table of options, the last without a name, and where they belong, for messages. */
struct block_kind {
	const struct option *options;
	const char *where;
};

/* The block that is read, and of what. */
struct context {
	struct config *config;
	struct service_config *service;
	struct probe_config *probe;
	struct function_config *function;
	struct table_config *table;
	struct key_config *key;
	struct value_config *value;
	struct strings *once;           /* of the block, see config.h */
	char block[128 + 16];           /* for messages, e.g. `<Service "web">` */
	const struct block_kind *kinds; /* of all blocks, the last without options */
	struct mistakes *mistakes;
	unsigned excess_services, excess_probes; /* blocks that there is no room for */
};

/* A line of this block, or a block in it, is ignored: false. */
#define mistake(context, item, ...) \
	mistake_ignore((context)->mistakes, mistake_name((context)->block, item).text, __VA_ARGS__)
#define block_mistake(context, item, ...) \
	mistake_ignore((context)->mistakes, mistake_name(NULL, item).text, __VA_ARGS__)

/* A line of this block, or a block in it, counts, but perhaps not as it was meant. */
#define line_note(context, item, ...) \
	mistake_note((context)->mistakes, mistake_name((context)->block, item).text, __VA_ARGS__)
#define block_note(context, item, ...) \
	mistake_note((context)->mistakes, mistake_name(NULL, item).text, __VA_ARGS__)

/* Operators put numbers and booleans in quotes, as other programs want them: what to say of such a value. */
const char *quotes_hint(const struct oconfig_value_s *value);

/* Tell what an option wants that has something else: false. */
bool wants_boolean(struct context *context, const oconfig_item_t *item);
bool wants_whole(struct context *context, const oconfig_item_t *item, unsigned low, unsigned high);
bool wants_seconds(struct context *context, const oconfig_item_t *item);
bool wants_percent(struct context *context, const oconfig_item_t *item, const char *of);

/* Grows an array by one zeroed element; NULL: no memory, the array is as before. */
void *block_append(void *array, size_t *count, size_t size);

/* Takes a copy of a text. */
bool block_add_string(struct context *context, const oconfig_item_t *item, struct strings *list,
		      const char *text);

/* Likewise, unless the list has it. */
bool block_add_new(struct context *context, const oconfig_item_t *item, struct strings *list,
		   const char *text);

/* Takes a copy of the one absolute path that an option has. */
bool block_take_path(struct context *context, const oconfig_item_t *item, char **path);

/* Takes all lines of a block; false: one that it needs is ignored, or one of no known name, which was
 * told. */
bool block_take(struct context *context, const oconfig_item_t *block, const struct option *options);

/* Notes a line that may stand once, and tells of two that differ: the last one counts. It begins
 * with key, that of an option or of one of its names, as `Parameter "x"`. */
void block_remember(struct context *context, const oconfig_item_t *item, const char *key);

/* A line that may stand once, as `once` has it, or NULL: there is none. */
const char *block_line(const struct strings *once, const char *option);

/* The name of a Service, Probe or Function block, or NULL after a message. */
const char *block_name(struct context *context, const oconfig_item_t *block);

/* That of a block of this kind and name in another one. */
struct context block_inside(const struct context *parent, const char *kind, const char *name,
			    struct strings *once);

#endif
