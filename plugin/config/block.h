/* SPDX-License-Identifier: MIT */
#ifndef EBPF_BLOCK_H
#define EBPF_BLOCK_H

#include "config.h"
#include "mistake.h"

#include <liboconfig/oconfig.h>
#include <stdbool.h>
#include <stddef.h>

struct context;

/* Parses the values of an option; false: it is ignored, which was reported. */
typedef bool option_fn(struct context *context, const oconfig_item_t *item);

struct option {
	const char *name;
	option_fn *parse;
	enum {
		ONCE,
		OFTEN,
		NEEDED, /* often; a block without any of these has no effect */
		BLOCK,
	} kind;
};

/* A table of options, the last one without a name, and where they belong, for messages. */
struct block_kind {
	const struct option *options;
	const char *where;
};

/* The block that is parsed, and the structs that it fills. */
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
	unsigned excess_services, excess_probes; /* number of blocks beyond the limit */
};

/* Reports that a line of this block, or a block in it, is ignored, and returns false. */
#define mistake(context, item, ...) \
	mistake_ignore((context)->mistakes, mistake_name((context)->block, item).text, __VA_ARGS__)
#define block_mistake(context, item, ...) \
	mistake_ignore((context)->mistakes, mistake_name(NULL, item).text, __VA_ARGS__)

/* Reports that a line of this block, or a block in it, is used, but perhaps not as it was meant. */
#define line_note(context, item, ...) \
	mistake_note((context)->mistakes, mistake_name((context)->block, item).text, __VA_ARGS__)
#define block_note(context, item, ...) \
	mistake_note((context)->mistakes, mistake_name(NULL, item).text, __VA_ARGS__)

/* A hint for values in quotes: other programs want numbers and booleans quoted. */
const char *quotes_hint(const struct oconfig_value_s *value);

/* Report what an option wants, and return false. */
bool wants_boolean(struct context *context, const oconfig_item_t *item);
bool wants_whole(struct context *context, const oconfig_item_t *item, unsigned low, unsigned high);
bool wants_seconds(struct context *context, const oconfig_item_t *item);
bool wants_percent(struct context *context, const oconfig_item_t *item, const char *of);

/* Grows an array by one zeroed element; NULL: no memory, the array is as before. */
void *block_append(void *array, size_t *count, size_t size);

/* Appends a copy of a text. */
bool block_add_string(struct context *context, const oconfig_item_t *item, struct strings *list,
		      const char *text);

/* The same, unless the list has the text. */
bool block_add_new(struct context *context, const oconfig_item_t *item, struct strings *list,
		   const char *text);

/* Adds the option's values from `first` on, which are strings, to a list that has at most `most`
 * different ones: all of them, or, after a message about `of`, none. */
bool block_add_all(struct context *context, const oconfig_item_t *item, int first,
		   struct strings *list, size_t most, const char *of);

/* Sets *path to a copy of the one absolute path that an option has. */
bool block_parse_path(struct context *context, const oconfig_item_t *item, char **path);

/* Parses all lines of a block. false: a NEEDED one, or one of unknown name, is ignored, which was reported. */
bool block_parse(struct context *context, const oconfig_item_t *block,
		 const struct option *options);

/* Notes a line that may occur once, and reports two that differ: the last one counts. `key` is the start of the
 * line: an option, or one of its names, as `Parameter "x"`. */
void block_remember(struct context *context, const oconfig_item_t *item, const char *key);

/* The line of an option that may occur once, from `once`; NULL: there is none. */
const char *block_line(const struct strings *once, const char *option);

/* The name of a Service, Probe or Function block; NULL after a message. */
const char *block_name(struct context *context, const oconfig_item_t *block);

/* The context for a block of this kind and name in another block. */
struct context block_inside(const struct context *parent, const char *kind, const char *name,
			    struct strings *once);

#endif
