/* SPDX-License-Identifier: MIT */
/*
 * Attach lines of a Probe block: each names a hook and, if it must, the program for it.
 */
#include "attach_line.h"

#include "attachment_list.h"
#include "program_kind.h"

#include <stdio.h>
#include <string.h>

struct program_names {
	char text[512];
	unsigned count;
};

static void add_program_name(struct program_names *names, const struct bpf_program *program)
{
	size_t length = strlen(names->text);

	names->count++;
	snprintf(names->text + length, sizeof(names->text) - length, "%s\"%s\"", length ? ", " : "",
		 bpf_program__name(program));
}

/* Returns the program that the line names, or the only one whose section is of the hook's kind.
 * NULL: `why` says the reason. */
static struct bpf_program *find_line_program(const struct object *object,
					     const struct attach_config *attach, char *why,
					     size_t size)
{
	enum hook_kind kind = attach->hook.kind;
	struct program_names all = { .count = 0 }, fitting = { .count = 0 };
	struct bpf_program *program, *found = NULL;

	bpf_object__for_each_program(program, object->bpf)
	{
		if (attach->program && !strcmp(bpf_program__name(program), attach->program)) {
			if (program_fits_hook(program, kind))
				return program;
			snprintf(why, size, "the program is SEC(\"%.100s\")",
				 bpf_program__section_name(program));
			return NULL;
		}
		add_program_name(&all, program);
		if (!program_fits_hook(program, kind) || !program_has_section(program, kind))
			continue;
		add_program_name(&fitting, program);
		found = program;
	}
	if (attach->program)
		snprintf(why, size, "it has no program of this name, but %s",
			 all.count ? all.text : "none at all");
	else if (fitting.count == 0)
		snprintf(why, size, "it has no program SEC(\"%s\")", program_section(kind));
	else if (fitting.count > 1)
		snprintf(why, size, "which program? name one after it: %s", fitting.text);
	return attach->program || fitting.count != 1 ? NULL : found;
}

static void name_line(char *text, size_t size, const struct attach_config *line)
{
	snprintf(text, size, "Attach \"%.256s\"%s%s%s", line->text, line->program ? " \"" : "",
		 line->program ?: "", line->program ? "\"" : "");
}

static void ignore_line(const char *probe, const struct attach_config *line, const char *why)
{
	char what[512];

	name_line(what, sizeof(what), line);
	message(LOG_ERR, "probe %s: ignoring %s: %s", probe, what, why);
}

void attach_lines_check(const struct object *object, const char *probe,
			const struct probe_config *block)
{
	for (size_t i = 0; block && i < block->attach_count; i++) {
		char why[768];

		if (!find_line_program(object, &block->attaches[i], why, sizeof(why)))
			ignore_line(probe, &block->attaches[i], why);
	}
}

bool attach_lines_use_kernel(const struct object *object, const struct bpf_program *program,
			     const struct probe_config *block)
{
	char why[768];

	for (size_t i = 0; block && i < block->attach_count; i++) {
		const struct attach_config *line = &block->attaches[i];

		if ((line->hook.kind == HOOK_KPROBE || line->hook.kind == HOOK_KRETPROBE) &&
		    find_line_program(object, line, why, sizeof(why)) == program)
			return true;
	}
	return false;
}

void attach_lines_add(struct object *object, const char *probe, const struct probe_config *block)
{
	for (size_t i = 0; block && i < block->attach_count; i++) {
		const struct attach_config *line = &block->attaches[i];
		struct error error = { "" };
		char why[768], what[512];
		struct attachment attachment = {
			.hook = &line->hook,
			.program = find_line_program(object, line, why, sizeof(why)),
			.what = what,
			.at_return = program_hook_is_return(line->hook.kind),
			.replaces = program_hook_is_return(line->hook.kind),
		};

		/* attach_lines_check() has logged the lines without a program. */
		if (!attachment.program)
			continue;
		name_line(what, sizeof(what), line);
		if (!bpf_program__autoload(attachment.program))
			ignore_line(probe, line, "its hook set or Option is not in use");
		else if (attachments_add(object, &attachment, &error))
			ignore_line(probe, line, error.text);
	}
}
