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
	enum { ONCE, OFTEN, BLOCK } kind;
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
	char block[128 + 16];           /* for messages, e.g. `<Service "web">` */
	const struct block_kind *kinds; /* of all blocks, the last without options */
	struct mistakes *mistakes;
	unsigned excess_services, excess_probes; /* blocks that there is no room for */
};

/* A line of this block, or a block in it, is ignored: false. */
#define mistake(context, item, ...) \
	mistake_ignore((context)->mistakes, (context)->block, item, __VA_ARGS__)
#define block_mistake(context, item, ...) \
	mistake_ignore((context)->mistakes, NULL, item, __VA_ARGS__)

/* Tell what an option wants that has something else: false. */
bool wants_boolean(struct context *context, const oconfig_item_t *item);
bool wants_whole(struct context *context, const oconfig_item_t *item, unsigned low, unsigned high);
bool wants_seconds(struct context *context, const oconfig_item_t *item);
bool wants_percent(struct context *context, const oconfig_item_t *item, const char *of);

/* Grows an array by one zeroed element; NULL: no memory, the array is as before. */
void *block_append(void *array, size_t *count, size_t size);

/* Takes a copy of a text, or of the one absolute path that an option has. */
bool block_add_string(struct context *context, const oconfig_item_t *item, struct strings *list,
		      const char *text);
bool block_take_path(struct context *context, const oconfig_item_t *item, char **path);

/* Takes all lines of a block. */
void block_take(struct context *context, const oconfig_item_t *block, const struct option *options);

/* The name of a new Service or Probe block, or NULL after a message. */
const char *block_name(struct context *context, const oconfig_item_t *block,
		       bool (*taken)(const struct config *config, const char *name));

/* That of a block of this kind and name in another one. */
struct context block_inside(const struct context *parent, const char *kind, const char *name);

#endif
