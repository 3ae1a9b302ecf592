/* SPDX-License-Identifier: MIT */
/*
 * Programs and their attach points. libbpf attaches by the text of a section; here is what it cannot
 * know, which a Probe block says, and what it would do in the daemon: reading ELF files of others.
 */
#include "attach.h"

#include "diagnosis.h"
#include "link.h"
#include "over.h"
#include "sample.h"

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
	[POINT_TRACEPOINT] = { BPF_PROG_TYPE_TRACEPOINT, { "tracepoint", "tp" } },
	[POINT_PERF] = { BPF_PROG_TYPE_PERF_EVENT, { "perf_event" } },
};

/* Is the first part of the section this word? uprobe.s is an uprobe that may sleep. */
static bool begins_with(const char *section, const char *word)
{
	size_t length = word ? strlen(word) : 0;

	if (!word || strncmp(section, word, length) != 0)
		return false;
	section += length;
	if (!strncmp(section, ".s", 2))
		section += 2;
	return *section == '\0' || *section == '/';
}

static bool has_section(const struct bpf_program *program, enum point_kind kind)
{
	const char *section = bpf_program__section_name(program);

	return begins_with(section, KINDS[kind].sections[0]) ||
	       begins_with(section, KINDS[kind].sections[1]);
}

/* Those of many functions at once are attached in another way. */
static bool fits(const struct bpf_program *program, enum point_kind kind)
{
	return bpf_program__type(program) == KINDS[kind].type &&
	       bpf_program__expected_attach_type(program) != BPF_TRACE_KPROBE_MULTI;
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

static bool is_walk(const struct bpf_program *program)
{
	return strncmp(bpf_program__section_name(program), "iter", 4) == 0;
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
		object->walks[object->walk_count++] = link;
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

static void ignore(const char *probe, const struct attach_config *attach, const char *why)
{
	message(LOG_ERR, "probe %s: ignoring Attach \"%.256s\"%s%s%s: %s", probe, attach->text,
		attach->program ? " \"" : "", attach->program ?: "", attach->program ? "\"" : "",
		why);
}

void attach_check(const struct object *object, const char *probe, const struct probe_config *block)
{
	for (size_t i = 0; block && i < block->attach_count; i++) {
		char why[768];

		if (!find_program(object, &block->attaches[i], why, sizeof(why)))
			ignore(probe, &block->attaches[i], why);
	}
}

/* What SEC("uprobe/PATH:FUNCTION") or SEC("usdt/PATH:PROVIDER:NAME") names. */
static int attach_section(struct object *object, const struct bpf_program *program,
			  struct file_reader *files, struct error *error)
{
	const char *section = bpf_program__section_name(program);
	struct point point;
	char text[POINT_TEXT_MAX + 1], why[256];
	int status;

	snprintf(text, sizeof(text), "%s:%s", point_kind_name(kind_in_file(program)),
		 strchr(section, '/') + 1);
	if (!point_parse(text, &point, why, sizeof(why)))
		return error_set(error, -EINVAL, "program %s, SEC(\"%.200s\"): %s",
				 bpf_program__name(program), section, why);
	status = link_point(object, program, &point, files, error);
	point_done(&point);
	return status;
}

static void attach_lines(struct object *object, const char *probe, const struct probe_config *block,
			 struct file_reader *files)
{
	for (size_t i = 0; block && i < block->attach_count; i++) {
		const struct attach_config *line = &block->attaches[i];
		struct error error = { "" };
		char why[768];
		struct bpf_program *program = find_program(object, line, why, sizeof(why));

		/* What fits none has been told; others are of another tier or option. */
		if (!program)
			continue;
		if (!bpf_program__autoload(program))
			ignore(probe, line, "its tier or Option is not in use");
		else if (link_point(object, program, &line->point, files, &error))
			ignore(probe, line, error.text);
	}
}

void attach_undo(struct object *object)
{
	while (object->link_count)
		bpf_link__destroy(object->links[--object->link_count]);
}

int attach_again(struct object *object, const char *probe, const struct probe_config *block,
		 struct file_reader *files, struct error *error)
{
	int status = attach_programs(object, false, error);

	status = status ?: attach_points(object, probe, block, files, error);
	if (status)
		attach_undo(object);
	return status;
}

int attach_points(struct object *object, const char *probe, const struct probe_config *block,
		  struct file_reader *files, struct error *error)
{
	const struct bpf_program *unattached = NULL;
	struct bpf_program *program;

	bpf_object__for_each_program(program, object->bpf)
	{
		int status = 0;

		if (!bpf_program__autoload(program) || !attach_is_own(program))
			continue;
		if (has_target(program))
			status = attach_section(object, program, files, error);
		else
			unattached = program;
		if (status)
			return status;
	}
	attach_lines(object, probe, block, files);
	if (!unattached || object->link_count || object->walk_count || object->sample_count)
		return 0;
	return error_set(error, -ENOENT,
			 "nothing of it is attached: the program %s is SEC(\"%s\"), and its Probe "
			 "block needs an Attach line for it that works",
			 bpf_program__name(unattached), bpf_program__section_name(unattached));
}
