/* SPDX-License-Identifier: MIT */
/*
 * Probe blocks that do not do what they say: of a name that no probe has, and of a probe that is off.
 */
#include "probe_mistake.h"

#include "config/mistake.h"

#include <stdio.h>
#include <string.h>

static void append(char *text, size_t size, const char *name)
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
		append(has, sizeof(has), *names);
	error_set(ret_text, 0,
		  "ignoring <Probe \"%s\">: there is no such probe; there are: %s; for another "
		  "object the block needs Object",
		  block->name, has[0] ? has : "none");
}

/* But Object, which says what is off. */
static bool list_options(const struct probe_config *block, char *text, size_t size)
{
	const struct {
		const char *name;
		bool is_set;
	} options[] = {
		{ "Attach", block->attach_count },
		{ "Budget", block->budget_percent > 0 },
		{ "Collect", block->collect.count },
		{ "Frequency", block->frequency_hz > 0 },
		{ "Function", block->function_count },
		{ "Ignore", block->ignore.count },
		{ "Interval", block->interval_s > 0 },
		{ "Label", block->label_count },
		{ "MaxOverhead", block->max_overhead > 0 },
		{ "Option", block->options.count },
		{ "Parameter", block->parameter_count },
		{ "Rows", block->rows },
		{ "Table", block->table_count },
		{ "Tier", block->tier },
	};

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (options[i].is_set)
			append(text, size, options[i].name);
	return text[0];
}

bool probe_mistake_ignored(int severity, const struct probe_config *block, const char *why)
{
	char options[256];

	if (!list_options(block, options, sizeof(options)))
		return false;
	message(severity, "ignoring %s in <Probe \"%s\">: %s", options, block->name, why);
	return true;
}
