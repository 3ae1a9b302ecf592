/* SPDX-License-Identifier: MIT */
/*
 * Chooses the programs for functions that are counted. Links for many functions at once are used if
 * the kernel has them; programs that no function needs are not loaded.
 */
#include "function_program.h"

#include "attachment_list.h"
#include "attachment_message.h"
#include "kprobe_multi.h"
#include "object/diagnosis.h"
#include "trial_program.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* By section. */
enum program_role {
	FILE_CALL,
	FILE_RETURN,
	KERNEL_CALL,
	KERNEL_RETURN,
	KERNEL_CALLS,
	KERNEL_RETURNS,
	ROLES
};

static const char *const SECTIONS[] = {
	[FILE_CALL] = "uprobe",          [FILE_RETURN] = "uretprobe",
	[KERNEL_CALL] = "kprobe",        [KERNEL_RETURN] = "kretprobe",
	[KERNEL_CALLS] = "kprobe.multi", [KERNEL_RETURNS] = "kretprobe.multi",
};

struct programs {
	struct bpf_program *of[ROLES]; /* NULL: the object has none */
	struct bpf_program *entries[FUNCTION_COPIES_MAX], *exits[FUNCTION_COPIES_MAX];
	size_t entry_count, exit_count;
	size_t copies_used;
};

struct prepare_work {
	struct object *object;
	const char *probe;
	struct programs programs;
	bool has_kprobe_multi;
	struct attachment *refused; /* only `what` and `why` are set */
	size_t refused_count;
};

/* Programs are not loaded unless a function needs them. */
static void find_programs(const struct object *object, struct programs *programs)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object->bpf)
	{
		const char *section = bpf_program__section_name(program);
		enum program_role role = 0;

		while (role < ROLES && strcmp(SECTIONS[role], section) != 0)
			role++;
		if (role < ROLES)
			programs->of[role] = program;
		else if (!strcmp(section, "fentry") && programs->entry_count < FUNCTION_COPIES_MAX)
			programs->entries[programs->entry_count++] = program;
		else if (!strcmp(section, "fexit") && programs->exit_count < FUNCTION_COPIES_MAX)
			programs->exits[programs->exit_count++] = program;
		else
			continue;
		bpf_program__set_autoload(program, false);
	}
}

static void name_function(const struct traced_function *traced, char *text, size_t size)
{
	snprintf(text, size, "Function \"%s\"", traced->name);
}

static int refuse_function(struct prepare_work *work, const struct traced_function *traced,
			   const char *why, struct error *error)
{
	struct attachment *refused = &work->refused[work->refused_count];
	char what[128];

	name_function(traced, what, sizeof(what));
	refused->what = strdup(what);
	if (!refused->what)
		return error_set(error, -ENOMEM, "no memory");
	work->refused_count++;
	attachment_note(refused, ATTACHMENT_REFUSED, why);
	return 0;
}

/* One message per reason. */
static void log_refused(const struct prepare_work *work)
{
	struct attachment **items = calloc(work->refused_count + 1, sizeof(*items));

	for (size_t i = 0; i < work->refused_count && items; i++)
		items[i] = &work->refused[i];
	if (items)
		attachments_log(items, work->refused_count, work->probe);
	for (size_t i = 0; i < work->refused_count; i++) {
		free(work->refused[i].what);
		free(work->refused[i].why);
	}
	free(items);
}

static uint64_t cookie_of(const struct attachment *attachment,
			  const struct symbol_location *location)
{
	const struct traced_function *traced = attachment->with;

	return traced->location_cookie(traced->with, traced, location);
}

static int add_attachment(struct prepare_work *work, const struct traced_function *traced,
			  struct bpf_program *program, struct bpf_program *many, bool at_return,
			  struct error *error)
{
	char what[128];
	struct attachment attachment = {
		.hook = traced->hook,
		.program = program,
		.many = many,
		.what = what,
		.at_return = at_return,
		.replaces = traced->replaces,
		.is_paired = traced->at_entry && traced->at_return,
		.cookie = traced->cookie,
		.part = traced->part,
		.location_cookie = traced->location_cookie ? cookie_of : NULL,
		.with = traced,
	};

	if (!program)
		return refuse_function(work, traced, "the object has no program for it", error);
	name_function(traced, what, sizeof(what));
	bpf_program__set_autoload(program, true);
	if (many)
		bpf_program__set_autoload(many, true);
	return attachments_add(work->object, &attachment, error);
}

static int add_by_role(struct prepare_work *work, const struct traced_function *traced,
		       enum program_role role, bool at_return, struct error *error)
{
	struct bpf_program *const *of = work->programs.of;
	struct bpf_program *many = NULL;

	if (traced->hook->kind == HOOK_KPROBE && work->has_kprobe_multi)
		many = of[at_return ? KERNEL_RETURNS : KERNEL_CALLS];
	return add_attachment(work, traced, of[role], many, at_return, error);
}

/* A program that does nothing shows whether the kernel allows this function. */
static int try_copy(const char *name, bool at_return)
{
	enum bpf_attach_type type = at_return ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY;
	int id = libbpf_find_vmlinux_btf_id(name, type), program;

	if (id <= 0)
		return -ENOENT;
	program = trial_program_load(BPF_PROG_TYPE_TRACING, type, (uint32_t)id);
	if (program < 0)
		return program;
	close(program);
	return 0;
}

static int set_copy_function(struct bpf_program *program, const char *name, bool at_return)
{
	int status;

	diagnosis_begin();
	status = try_copy(name, at_return);
	status = status ?: bpf_program__set_attach_target(program, 0, name);
	diagnosis_end();
	return status;
}

/* Each copy of the program is bound to one function when it is loaded. */
static int set_copies_function(const struct programs *programs, size_t number,
			       const struct traced_function *traced)
{
	const char *name = traced->hook->name;
	int status = 0;

	if (traced->at_entry)
		status = set_copy_function(programs->entries[number], name, false);
	if (status == 0 && traced->at_return)
		status = set_copy_function(programs->exits[number], name, true);
	return status;
}

static int add_copies(struct prepare_work *work, const struct traced_function *traced,
		      struct error *error)
{
	struct programs *programs = &work->programs;
	size_t number = programs->copies_used, copies = programs->entry_count;
	struct error why;
	int status;

	if (programs->exit_count < copies)
		copies = programs->exit_count;
	if (number >= copies)
		return refuse_function(
			work, traced,
			"there are more functions for fentry than it has programs for; name others by kprobe",
			error);
	status = set_copies_function(programs, number, traced);
	if (status) {
		diagnosis_of_hook(traced->hook, status, &why);
		return refuse_function(work, traced, why.text, error);
	}
	programs->copies_used++;
	if (traced->at_entry)
		status =
			add_attachment(work, traced, programs->entries[number], NULL, false, error);
	if (status == 0 && traced->at_return)
		status = add_attachment(work, traced, programs->exits[number], NULL, true, error);
	return status;
}

static int add_programs_for(struct prepare_work *work, const struct traced_function *traced,
			    struct error *error)
{
	bool of_kernel = traced->hook->kind == HOOK_KPROBE;
	int status = 0;

	if (traced->hook->kind == HOOK_FENTRY)
		return add_copies(work, traced, error);
	if (traced->at_entry)
		status = add_by_role(work, traced, of_kernel ? KERNEL_CALL : FILE_CALL, false,
				     error);
	if (status == 0 && traced->at_return)
		status = add_by_role(work, traced, of_kernel ? KERNEL_RETURN : FILE_RETURN, true,
				     error);
	return status;
}

int function_programs_prepare(struct object *object, const char *probe,
			      const struct traced_function *traced, size_t count,
			      struct error *error)
{
	struct prepare_work work = { .object = object, .probe = probe };
	bool of_kernel = false;
	int status = 0;

	/* An entry and a return each. */
	work.refused = calloc(2 * count + 1, sizeof(*work.refused));
	if (!work.refused)
		return error_set(error, -ENOMEM, "no memory");
	find_programs(object, &work.programs);
	for (size_t i = 0; i < count; i++)
		of_kernel |= traced[i].hook->kind == HOOK_KPROBE;
	work.has_kprobe_multi = of_kernel && kprobe_multi_is_supported();
	for (size_t i = 0; i < count && status == 0; i++)
		status = add_programs_for(&work, &traced[i], error);
	log_refused(&work);
	free(work.refused);
	return status;
}
