/* SPDX-License-Identifier: MIT */
/*
 * Programs and their attach points. libbpf attaches by the text of a section; here is what it cannot
 * know, which a Probe block says, and what it would do in the daemon: reading ELF files of others.
 */
#include "attach.h"

#include "frame.h"
#include "link.h"
#include "multi.h"
#include "object/diagnosis.h"
#include "object/over.h"
#include "object/sample.h"
#include "periodic.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the programs of a kind of attach point are. */
static const struct kind {
	enum bpf_prog_type type;
	const char *sections[2]; /* what their section begins with */
} KINDS[] = {
	[POINT_UPROBE] = { BPF_PROG_TYPE_KPROBE, { "uprobe" } },
	[POINT_URETPROBE] = { BPF_PROG_TYPE_KPROBE, { "uretprobe" } },
	[POINT_USDT] = { BPF_PROG_TYPE_KPROBE, { "usdt" } },
	[POINT_KPROBE] = { BPF_PROG_TYPE_KPROBE, { "kprobe" } },
	[POINT_KRETPROBE] = { BPF_PROG_TYPE_KPROBE, { "kretprobe" } },
	[POINT_FENTRY] = { BPF_PROG_TYPE_TRACING, { "fentry", "fexit" } },
	[POINT_TRACEPOINT] = { BPF_PROG_TYPE_TRACEPOINT, { "tracepoint", "tp" } },
	[POINT_PERF] = { BPF_PROG_TYPE_PERF_EVENT, { "perf_event" } },
};

/* Is the first part of the section this word? uprobe.s is an uprobe that may sleep, kprobe.multi one
 * for many functions. */
static bool begins_with(const char *section, const char *word)
{
	size_t length = word ? strlen(word) : 0;

	if (!word || strncmp(section, word, length) != 0)
		return false;
	section += length;
	if (!strncmp(section, ".multi", 6))
		section += 6;
	else if (!strncmp(section, ".s", 2))
		section += 2;
	return *section == '\0' || *section == '/';
}

static bool has_section(const struct bpf_program *program, enum point_kind kind)
{
	const char *section = bpf_program__section_name(program);

	return begins_with(section, KINDS[kind].sections[0]) ||
	       begins_with(section, KINDS[kind].sections[1]);
}

/* Those of many functions of the kernel are for nothing else. */
static bool fits(const struct bpf_program *program, enum point_kind kind)
{
	return bpf_program__type(program) == KINDS[kind].type &&
	       (!multi_is_of_kernel(program) || has_section(program, kind));
}

static bool has_target(const struct bpf_program *program)
{
	return strchr(bpf_program__section_name(program), '/') != NULL;
}

/* The kind of attach point in a file that its section says; POINT_KINDS: none. */
static enum point_kind kind_in_file(const struct bpf_program *program)
{
	static const enum point_kind kinds[] = { POINT_UPROBE, POINT_URETPROBE, POINT_USDT };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (has_section(program, kinds[i]))
			return kinds[i];
	return POINT_KINDS;
}

bool attach_is_own(const struct bpf_program *program)
{
	if (kind_in_file(program) != POINT_KINDS)
		return true;
	for (enum point_kind kind = 0; kind < POINT_KINDS; kind++)
		if (has_section(program, kind) && fits(program, kind))
			return !has_target(program);
	return false;
}

/* Run at each reading without an attach point. */
static bool is_call(const struct bpf_program *program)
{
	return bpf_program__type(program) == BPF_PROG_TYPE_SYSCALL;
}

static bool is_walk(const struct bpf_program *program)
{
	return is_call(program) || strncmp(bpf_program__section_name(program), "iter", 4) == 0;
}

/* libbpf reads the ELF file of each such section in this process. */
static bool is_of_files(const struct bpf_program *program)
{
	return bpf_program__type(program) == BPF_PROG_TYPE_KPROBE &&
	       bpf_program__section_name(program)[0] == 'u';
}

static int attach_program(struct object *object, struct bpf_program *program, struct error *error)
{
	const char *section = bpf_program__section_name(program);
	struct bpf_link *link;
	int status = 0;

	if (is_call(program)) {
		object->walks[object->walk_count++] = (struct reading_walk){ .program = program };
		return 0;
	}
	if (is_of_files(program))
		return error_set(error, -EOPNOTSUPP, "cannot attach to %.100s: not supported",
				 section);
	diagnosis_begin();
	link = over_is(program) ? over_attach(object, program) : bpf_program__attach(program);
	if (!link && errno == EACCES && over_is(program))
		status = error_set(error, -EACCES,
				   "cannot attach to %s: the program %s reads more of a key or "
				   "value than the map has that it walks over",
				   section, bpf_program__name(program));
	else if (!link)
		status = diagnosis_error(DIAGNOSIS_ATTACH, section, -errno, error);
	diagnosis_end();
	if (status)
		return status;
	if (sample_hz(object, program))
		object->samples[object->sample_count++] =
			(struct sample){ link, program, sample_hz(object, program) };
	else if (is_walk(program))
		object->walks[object->walk_count++] = (struct reading_walk){ link, program };
	else
		return link_add(object, link, error);
	return 0;
}

/* By their sections; iterators, which are run and not called, too, or without them. */
static int attach_programs(struct object *object, bool iterators, struct error *error)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object->bpf)
	{
		int status = 0;

		if (bpf_program__autoload(program) && bpf_program__autoattach(program) &&
		    !attach_is_own(program) && (iterators || !is_walk(program)))
			status = attach_program(object, program, error);
		if (status)
			return status;
	}
	return 0;
}

int attach_sections(struct object *object, struct error *error)
{
	struct bpf_program *program;
	size_t programs = 0;
	int status;

	bpf_object__for_each_program(program, object->bpf) programs++;
	object->walks = calloc(programs + 1, sizeof(*object->walks));
	object->samples = calloc(programs + 1, sizeof(*object->samples));
	if (!object->walks || !object->samples)
		return error_set(error, -ENOMEM, "no memory");
	status = attach_programs(object, true, error);
	if (status)
		return status;
	if (object->tier == 0)
		object->tier = 1;
	return 0;
}

struct names {
	char text[512];
	unsigned count;
};

static void add_name(struct names *names, const struct bpf_program *program)
{
	size_t length = strlen(names->text);

	names->count++;
	snprintf(names->text + length, sizeof(names->text) - length, "%s\"%s\"", length ? ", " : "",
		 bpf_program__name(program));
}

/* The program that a line names, or the only one of such a section. NULL, and why. */
static struct bpf_program *find_program(const struct object *object,
					const struct attach_config *attach, char *why, size_t size)
{
	enum point_kind kind = attach->point.kind;
	struct names all = { .count = 0 }, fitting = { .count = 0 };
	struct bpf_program *program, *found = NULL;

	bpf_object__for_each_program(program, object->bpf)
	{
		if (attach->program && !strcmp(bpf_program__name(program), attach->program)) {
			if (fits(program, kind))
				return program;
			snprintf(why, size, "the program is SEC(\"%.100s\")",
				 bpf_program__section_name(program));
			return NULL;
		}
		add_name(&all, program);
		if (!fits(program, kind) || !has_section(program, kind))
			continue;
		add_name(&fitting, program);
		found = program;
	}
	if (attach->program)
		snprintf(why, size, "it has no program of this name, but %s",
			 all.count ? all.text : "none at all");
	else if (fitting.count == 0)
		snprintf(why, size, "it has no program SEC(\"%s\")", KINDS[kind].sections[0]);
	else if (fitting.count > 1)
		snprintf(why, size, "which program? name one behind it: %s", fitting.text);
	return attach->program || fitting.count != 1 ? NULL : found;
}

static void name_line(char *text, size_t size, const struct attach_config *line)
{
	snprintf(text, size, "Attach \"%.256s\"%s%s%s", line->text, line->program ? " \"" : "",
		 line->program ?: "", line->program ? "\"" : "");
}

static void ignore(const char *probe, const struct attach_config *line, const char *why)
{
	char what[512];

	name_line(what, sizeof(what), line);
	message(LOG_ERR, "probe %s: ignoring %s: %s", probe, what, why);
}

void attach_check(const struct object *object, const char *probe, const struct probe_config *block)
{
	for (size_t i = 0; block && i < block->attach_count; i++) {
		char why[768];

		if (!find_program(object, &block->attaches[i], why, sizeof(why)))
			ignore(probe, &block->attaches[i], why);
	}
}

/* Does an Attach line have it for a function of the kernel, which another kind of program is for? */
static bool is_for_kernel(const struct object *object, const struct bpf_program *program,
			  const struct probe_config *block)
{
	char why[768];

	for (size_t i = 0; block && i < block->attach_count; i++) {
		const struct attach_config *line = &block->attaches[i];

		if ((line->point.kind == POINT_KPROBE || line->point.kind == POINT_KRETPROBE) &&
		    find_program(object, line, why, sizeof(why)) == program)
			return true;
	}
	return false;
}

void attach_prepare(const struct object *object, const struct probe_config *block)
{
	struct bpf_program *program;
	int has = -1;

	bpf_object__for_each_program(program, object->bpf)
	{
		if (!bpf_program__autoload(program) || kind_in_file(program) == POINT_KINDS ||
		    is_for_kernel(object, program, block))
			continue;
		if (has < 0)
			has = multi_has_files();
		if (has)
			multi_set_of_files(program);
	}
}

static bool is_at_return(enum point_kind kind)
{
	return kind == POINT_URETPROBE || kind == POINT_KRETPROBE;
}

/* What SEC("uprobe/PATH:FUNCTION") or SEC("usdt/PATH:PROVIDER:NAME") names. */
static int add_section(struct object *object, const struct bpf_program *program,
		       struct error *error)
{
	const char *section = bpf_program__section_name(program);
	struct point *point = calloc(1, sizeof(*point));
	struct attachment attachment = { .point = point,
					 .own_point = point,
					 .program = program,
					 .what = (char *)section,
					 .is_needed = true };
	char text[POINT_TEXT_MAX + 1], why[256];
	int status;

	snprintf(text, sizeof(text), "%s:%s", point_kind_name(kind_in_file(program)),
		 strchr(section, '/') + 1);
	if (!point)
		return error_set(error, -ENOMEM, "no memory");
	if (!point_parse(text, point, why, sizeof(why))) {
		free(point);
		return error_set(error, -EINVAL, "program %s, SEC(\"%.200s\"): %s",
				 bpf_program__name(program), section, why);
	}
	attachment.at_return = attachment.replaces = is_at_return(point->kind);
	status = attachments_add(object, &attachment, error);
	if (status) {
		point_done(point);
		free(point);
	}
	return status;
}

static int add_sections(struct object *object, struct error *error)
{
	struct bpf_program *program;
	int status = 0;

	bpf_object__for_each_program(
		program, object->bpf) if (status == 0 && bpf_program__autoload(program) &&
					  attach_is_own(program) && has_target(program)) status =
		add_section(object, program, error);
	return status;
}

static void add_lines(struct object *object, const char *probe, const struct probe_config *block)
{
	for (size_t i = 0; block && i < block->attach_count; i++) {
		const struct attach_config *line = &block->attaches[i];
		struct error error = { "" };
		char why[768], what[512];
		struct attachment attachment = {
			.point = &line->point,
			.program = find_program(object, line, why, sizeof(why)),
			.what = what,
			.at_return = is_at_return(line->point.kind),
			.replaces = is_at_return(line->point.kind),
		};

		/* What fits none has been told; others are of another tier or option. */
		if (!attachment.program)
			continue;
		name_line(what, sizeof(what), line);
		if (!bpf_program__autoload(attachment.program))
			ignore(probe, line, "its tier or Option is not in use");
		else if (attachments_add(object, &attachment, &error))
			ignore(probe, line, error.text);
	}
}

/* A program that is own and has no target; NULL: there is none. */
static const struct bpf_program *find_untargeted(const struct object *object)
{
	struct bpf_program *program;

	bpf_object__for_each_program(
		program, object->bpf) if (bpf_program__autoload(program) &&
					  attach_is_own(program) && !has_target(program) &&
					  !periodic_hz(object, program)) return program;
	return NULL;
}

static int attach_all(struct object *object, const char *probe, const struct file_finder *finder,
		      struct error *error)
{
	const struct bpf_program *untargeted = find_untargeted(object);
	ssize_t links = periodic_attach(object, error);

	if (links == 0)
		links = attachments_attach(object, probe, finder, error);
	if (links < 0)
		return (int)links;
	if (!untargeted || links || object->link_count || object->walk_count ||
	    object->sample_count || periodic_links(object))
		return 0;
	if (attachments_any(object))
		return attachments_none(error);
	return error_set(error, -ENOENT,
			 "nothing of it is attached: the program %s is SEC(\"%s\"), and its Probe "
			 "block needs an Attach line for it",
			 bpf_program__name(untargeted), bpf_program__section_name(untargeted));
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
	int status = attach_programs(object, false, error);

	status = status ?: attach_all(object, probe, finder, error);
	if (status)
		attach_undo(object);
	return status;
}

int attach_points(struct object *object, const char *probe, const struct probe_config *block,
		  const struct file_finder *finder, struct error *error)
{
	int status = add_sections(object, error);

	if (status)
		return status;
	add_lines(object, probe, block);
	frame_check(object, probe);
	return attach_all(object, probe, finder, error);
}
