/* SPDX-License-Identifier: MIT */
/*
 * Attaches all programs of an object: those that libbpf attaches by their sections, those of the
 * Attach lines, and those on functions of files. The latter are not left to libbpf, which would
 * read ELF files of others inside the daemon.
 */
#include "attach.h"

#include "frame.h"
#include "periodic.h"
#include "uprobe_multi.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void attach_prepare(const struct object *object, const struct probe_config *block)
{
	struct bpf_program *program;
	int has = -1;

	bpf_object__for_each_program(program, object->bpf)
	{
		if (!bpf_program__autoload(program) || program_file_hook(program) == HOOK_KINDS ||
		    attach_lines_use_kernel(object, program, block))
			continue;
		if (has < 0)
			has = uprobe_multi_is_supported();
		if (has)
			uprobe_multi_set(program);
	}
}

/* Adds the hook that SEC("uprobe/PATH:FUNCTION") or SEC("usdt/PATH:PROVIDER:NAME") names. */
static int add_section_attachment(struct object *object, const struct bpf_program *program,
				  struct error *error)
{
	const char *section = bpf_program__section_name(program);
	struct hook *hook = calloc(1, sizeof(*hook));
	struct attachment attachment = { .hook = hook,
					 .own_hook = hook,
					 .program = program,
					 .what = (char *)section,
					 .is_needed = true };
	char text[HOOK_TEXT_MAX + 1], why[256];
	int status;

	snprintf(text, sizeof(text), "%s:%s", hook_kind_name(program_file_hook(program)),
		 strchr(section, '/') + 1);
	if (!hook)
		return error_set(error, -ENOMEM, "no memory");
	if (!hook_parse(text, hook, why, sizeof(why))) {
		free(hook);
		return error_set(error, -EINVAL, "program %s, SEC(\"%.200s\"): %s",
				 bpf_program__name(program), section, why);
	}
	attachment.at_return = attachment.replaces = program_hook_is_return(hook->kind);
	status = attachments_add(object, &attachment, error);
	if (status) {
		hook_done(hook);
		free(hook);
	}
	return status;
}

static int add_section_attachments(struct object *object, struct error *error)
{
	struct bpf_program *program;
	int status = 0;

	bpf_object__for_each_program(
		program, object->bpf) if (status == 0 && bpf_program__autoload(program) &&
					  program_is_attached_by_engine(program) &&
					  program_names_hook(program)) status =
		add_section_attachment(object, program, error);
	return status;
}

/* Finds a program whose hook neither libbpf nor its section gives; NULL: there is none. */
static const struct bpf_program *find_unhooked(const struct object *object)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program,
				     object->bpf) if (bpf_program__autoload(program) &&
						      program_is_attached_by_engine(program) &&
						      !program_names_hook(program) &&
						      !periodic_hz(object, program)) return program;
	return NULL;
}

static int attach_all(struct object *object, const char *probe, const struct file_finder *finder,
		      struct error *error)
{
	const struct bpf_program *unhooked = find_unhooked(object);
	ssize_t links = periodic_attach(object, error);

	if (links == 0)
		links = attachments_attach(object, probe, finder, error);
	if (links < 0)
		return (int)links;
	if (!unhooked || links || object->link_count || object->walk_count ||
	    object->sample_count || periodic_links(object))
		return 0;
	if (attachments_any(object))
		return attachments_none(error);
	return error_set(error, -ENOENT,
			 "nothing of it is attached: the program %s is SEC(\"%s\"), and its Probe "
			 "block needs an Attach line for it",
			 bpf_program__name(unhooked), bpf_program__section_name(unhooked));
}

int attach_follow_cpus(struct object *object, const char *probe, const char *online,
		       struct error *error)
{
	int status = periodic_follow(object, online, error);

	return status ?: attachments_follow_cpus(object, probe, online, error);
}

void attach_undo(struct object *object)
{
	while (object->link_count)
		bpf_link__destroy(object->links[--object->link_count]);
	periodic_undo(object);
	attachments_undo(object);
}

int attach_again(struct object *object, const char *probe, const struct file_finder *finder,
		 struct error *error)
{
	int status = section_attach_programs(object, false, error);

	status = status ?: attach_all(object, probe, finder, error);
	if (status)
		attach_undo(object);
	return status;
}

int attach_hooks(struct object *object, const char *probe, const struct probe_config *block,
		 const struct file_finder *finder, struct error *error)
{
	int status = add_section_attachments(object, error);

	if (status)
		return status;
	attach_lines_add(object, probe, block);
	frame_check(object, probe);
	return attach_all(object, probe, finder, error);
}
