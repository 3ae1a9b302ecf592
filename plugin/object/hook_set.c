/* SPDX-License-Identifier: MIT */
/*
 * Which hook sets of an object are tried: those that its Probe block allows.
 */
#include "hook_set.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Appends to a list separated by commas. */
__attribute__((format(printf, 3, 4))) static void append_words(char *text, size_t size,
							       const char *format, ...)
{
	size_t length = strlen(text);
	va_list args;

	if (length)
		length += (size_t)snprintf(text + length, size - length, ", ");
	if (length >= size)
		return;
	va_start(args, format);
	vsnprintf(text + length, size - length, format, args);
	va_end(args);
}

static const struct strings *options_of(const struct probe_config *block)
{
	return block ? &block->options : NULL;
}

static void check_configured_options(const struct object *object, const char *probe,
				     const struct strings *options)
{
	const char *has[OBJECT_OPTIONS_MAX];
	size_t count = object_options(object, has);
	char text[1024] = "";

	for (size_t i = 0; i < count; i++)
		append_words(text, sizeof(text), "\"%s\"", has[i]);
	for (size_t i = 0; options && i < options->count; i++) {
		bool known = false;

		for (size_t j = 0; j < count && !known; j++)
			known = !strcmp(has[j], options->item[i]);
		if (!known)
			message(LOG_ERR, "probe %s: ignoring Option \"%s\": it has %s", probe,
				options->item[i], count ? text : "no options");
	}
}

static void ignore_hook_set(const struct object *object, const char *probe,
			    const struct probe_config *block)
{
	uint32_t hook_sets = hook_sets_declared(object);
	char text[128] = "", missing[256];

	for (unsigned hook_set = 1; hook_set <= CONFIG_HOOK_SETS_MAX; hook_set++)
		if (hook_sets >> hook_set & 1)
			append_words(text, sizeof(text), "%u", hook_set);
	if (hook_set_missing_options(object, block->hook_set, &block->options, missing,
				     sizeof(missing)))
		message(LOG_ERR, "probe %s: ignoring HookSet %u: it needs %s, too", probe,
			block->hook_set, missing);
	else
		message(LOG_ERR, "probe %s: ignoring HookSet %u: it has %s%s", probe,
			block->hook_set, text[0] ? "hook sets " : "no hook sets", text);
}

uint32_t hook_sets_find(const struct object *object, const char *probe,
			const struct probe_config *block, char *ret_options, size_t size)
{
	uint32_t hook_sets = hook_sets_declared(object);

	ret_options[0] = '\0';
	for (unsigned hook_set = 1; hook_set <= CONFIG_HOOK_SETS_MAX; hook_set++) {
		char missing[256];

		if (!hook_set_missing_options(object, hook_set, options_of(block), missing,
					      sizeof(missing)))
			continue;
		hook_sets &= ~(1U << hook_set);
		snprintf(ret_options, size, "%s", missing);
	}
	check_configured_options(object, probe, options_of(block));
	if (!block || !block->hook_set)
		return hook_sets;
	if (hook_sets >> block->hook_set & 1)
		return 1U << block->hook_set;
	ignore_hook_set(object, probe, block);
	return hook_sets;
}

/* Returns the hook sets that have programs with all options and none without the option at `index`. */
static uint32_t needed_by(const struct object *object, const struct usable_options *all,
			  size_t index)
{
	uint32_t hook_sets = 0;
	char *names[OBJECT_OPTIONS_MAX], text[256];
	struct strings others = { .item = names };

	for (size_t i = 0; i < all->count; i++)
		if (i != index)
			names[others.count++] = all->name[i];
	for (unsigned hook_set = 1; hook_set <= CONFIG_HOOK_SETS_MAX; hook_set++)
		if (hook_set_missing_options(object, hook_set, &others, text, sizeof(text)))
			hook_sets |= 1U << hook_set;
	return hook_sets;
}

void usable_options_find(struct usable_options *options, const struct object *object,
			 const struct probe_config *block)
{
	const char *has[OBJECT_OPTIONS_MAX];
	size_t count = object_options(object, has);

	options->count = 0;
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < block->options.count; j++)
			if (!strcmp(has[i], block->options.item[j])) {
				options->name[options->count++] = block->options.item[j];
				break;
			}
	for (size_t i = 0; i < options->count; i++)
		options->needed_by[i] = needed_by(object, options, i);
}
