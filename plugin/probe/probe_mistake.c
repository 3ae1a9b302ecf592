/* SPDX-License-Identifier: MIT */
/*
 * Reports Probe blocks without effect: there is no such probe, or the probe is off.
 */
#include "probe_mistake.h"

#include "config/mistake.h"
#include "object/annotation.h"

#include <stdio.h>
#include <string.h>

static void append_to_list(char *text, size_t size, const char *name)
{
	size_t length = strlen(text);

	snprintf(text + length, size - length, "%s%s", length ? ", " : "", name);
}

void probe_mistake_missing(struct error *ret_text, const struct probe_config *block,
			   const char *const *names)
{
	const char *near = mistake_near(block->name, names);
	char has[768] = "";

	if (near) {
		error_set(ret_text, 0,
			  "ignoring <Probe \"%s\">: there is no such probe; is \"%s\" meant?",
			  block->name, near);
		return;
	}
	for (; *names; names++)
		append_to_list(has, sizeof(has), *names);
	error_set(ret_text, 0,
		  "ignoring <Probe \"%s\">: there is no such probe; there are: %s; for another "
		  "object the block needs Object",
		  block->name, has[0] ? has : "none");
}

void probe_mistake_version(const struct object *object, const char *path, bool *logged)
{
	const char *version = annotation_of_variable(object->bpf, "LICENSE", "version:");

	if (!version || !strcmp(version, EBPF_VERSION) || *logged)
		return;
	*logged = true;
	message(LOG_WARNING,
		"%s is of version %.32s, but this plugin of " EBPF_VERSION
		", so that probes may count wrong; restart collectd, and if this message "
		"comes again, install the plugin and its objects from one package",
		path, version);
}

static bool is_line_of(const char *line, const char *option)
{
	size_t length = strlen(option);

	return !strncmp(line, option, length) && line[length] == ' ';
}

/* Appends the options that occur once, without Enable and without Object, which is about the object
 * that is off. */
static void append_single_options(const struct probe_config *block, char *text, size_t size)
{
	for (size_t i = 0; i < block->once.count; i++) {
		const char *line = block->once.item[i];

		if (!is_line_of(line, "Enable") && !is_line_of(line, "Object"))
			append_to_list(text, size, line);
	}
}

static bool list_block_options(const struct probe_config *block, char *text, size_t size)
{
	const struct {
		const char *name;
		size_t count;
	} lists[] = {
		{ "Attach", block->attach_count },       { "Collect", block->collect.count },
		{ "Function", block->function_count },   { "Ignore", block->ignore.count },
		{ "Label", block->label_count },         { "Option", block->options.count },
		{ "Parameter", block->parameter_count }, { "Table", block->table_count },
	};

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		if (lists[i].count)
			append_to_list(text, size, lists[i].name);
	append_single_options(block, text, size);
	return text[0];
}

void probe_mistake_disabled(const struct probe_config *block)
{
	char options[256];

	if (list_block_options(block, options, sizeof(options)))
		message(LOG_NOTICE,
			"ignoring %s in <Probe \"%s\">: Enable false switches the probe off",
			options, block->name);
}

/* A block shows that somebody wants the probe, so that it is a warning. What is wrong with a Function
 * block has been reported. */
void probe_mistake_not_enabled(struct off_by_default *off, const char *probe,
			       const struct probe_config *block, const char *why)
{
	char options[256];

	if (block && list_block_options(block, options, sizeof(options))) {
		message(LOG_WARNING, "probe %s is off: %s; until then it ignores %s", probe, why,
			options);
	} else if (block && !block->function_ignored) {
		message(LOG_WARNING, "probe %s is off: %s", probe, why);
	} else {
		if (strlen(off->names) + strlen(probe) + 3 > sizeof(off->names))
			probe_mistake_off_by_default(off);
		append_to_list(off->names, sizeof(off->names), probe);
	}
}

void probe_mistake_off_by_default(struct off_by_default *off)
{
	if (off->names[0])
		message(LOG_INFO,
			"off by default: %s; Enable true in its Probe block switches a probe on",
			off->names);
	off->names[0] = '\0';
}
