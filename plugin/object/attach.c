/* SPDX-License-Identifier: MIT */
/*
 * Programs and their attach points. libbpf attaches by the text of a section; here is what it cannot
 * know, which a Probe block says, and what it would do in the daemon: reading ELF files of others.
 */
#include "attach.h"

#include "diagnosis.h"
#include "over.h"
#include "sample.h"
#include "system/uprobe.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the programs of a kind of attach point are. */
static const struct kind {
	enum bpf_prog_type type;
	const char *sections[2]; /* what their section begins with */
} KINDS[] = {
	[POINT_UPROBE] = { BPF_PROG_TYPE_KPROBE, { "uprobe", "usdt" } },
	[POINT_URETPROBE] = { BPF_PROG_TYPE_KPROBE, { "uretprobe" } },
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

static bool is_of_file(const struct bpf_program *program)
{
	return has_section(program, POINT_UPROBE) || has_section(program, POINT_URETPROBE);
}

bool attach_is_own(const struct bpf_program *program)
{
	if (is_of_file(program))
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

static int attach_program(struct object *object, struct bpf_program *program, struct error *error)
{
	const char *section = bpf_program__section_name(program);
	struct bpf_link *link;
	int status = 0;

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
		object->links[object->link_count++] = link;
	return 0;
}

int attach_sections(struct object *object, struct error *error)
{
	struct bpf_program *program;
	size_t programs = 0;

	bpf_object__for_each_program(program, object->bpf) programs++;
	object->links = calloc(programs + 1, sizeof(*object->links));
	object->walks = calloc(programs + 1, sizeof(*object->walks));
	object->samples = calloc(programs + 1, sizeof(*object->samples));
	if (!object->links || !object->walks || !object->samples)
		return error_set(error, -ENOMEM, "no memory");
	bpf_object__for_each_program(program, object->bpf)
	{
		int status = 0;

		if (bpf_program__autoload(program) && !attach_is_own(program))
			status = attach_program(object, program, error);
		if (status)
			return status;
	}
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

/* What it has is the object's then. */
static int add_link(struct object *object, struct bpf_link *link, struct error *error)
{
	struct bpf_link **grown =
		reallocarray(object->links, object->link_count + 1, sizeof(*grown));

	if (!grown) {
		bpf_link__destroy(link);
		return error_set(error, -ENOMEM, "no memory");
	}
	object->links = grown;
	object->links[object->link_count++] = link;
	return 0;
}

/* Takes the descriptor of a perf event. */
static int attach_event(struct object *object, const struct bpf_program *program, int event,
			const char *what, struct error *error)
{
	struct bpf_link *link;
	int status = 0;

	diagnosis_begin();
	link = bpf_program__attach_perf_event(program, event);
	if (!link)
		status = diagnosis_error(DIAGNOSIS_ATTACH, what, -errno, error);
	diagnosis_end();
	if (status)
		close(event);
	return status ?: add_link(object, link, error);
}

static int attach_function(struct object *object, const struct bpf_program *program,
			   const struct point *point, struct file_reader *files,
			   struct error *error)
{
	struct uprobe_request request = { .path = point->path,
					  .function = point->name,
					  .offset = point->offset,
					  .at_return = point->kind == POINT_URETPROBE };
	enum uprobe_step step;
	int event, status = uprobe_open(files, &request, &event, &step);

	if (status)
		return error_set(error, status, "cannot %s %s: %s",
				 step == UPROBE_ATTACH ? "attach to" : "read", point->path,
				 uprobe_strerror(status, step));
	return attach_event(object, program, event, point->path, error);
}

static int attach_by_libbpf(struct object *object, const struct bpf_program *program,
			    const struct point *point, struct error *error)
{
	LIBBPF_OPTS(bpf_kprobe_opts, options, .offset = point->offset,
		    .retprobe = point->kind == POINT_KRETPROBE);
	struct bpf_link *link;
	char what[1100];
	int status = 0;

	snprintf(what, sizeof(what), "%s/%s%s%s", point_kind_name(point->kind),
		 point->category ?: "", point->category ? "/" : "", point->name);
	diagnosis_begin();
	link = point->kind == POINT_TRACEPOINT
		       ? bpf_program__attach_tracepoint(program, point->category, point->name)
		       : bpf_program__attach_kprobe_opts(program, point->name, &options);
	if (!link)
		status = diagnosis_error(DIAGNOSIS_ATTACH, what, -errno, error);
	diagnosis_end();
	return status ?: add_link(object, link, error);
}

static const char *event_refused(int status)
{
	switch (-status) {
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return "this machine cannot count it";
	case EACCES:
	case EPERM:
		return "collectd needs CAP_PERFMON or CAP_SYS_ADMIN for it";
	default:
		return strerror(-status);
	}
}

/* On each CPU that is online. */
static int attach_perf(struct object *object, const struct bpf_program *program,
		       const struct point *point, struct error *error)
{
	struct perf_event_attr attributes = {
		.type = point->perf_type,
		.size = sizeof(attributes),
		.config = point->perf_config,
		.sample_period = point->period ?: point->frequency,
		.freq = point->period == 0,
	};
	int cpus = libbpf_num_possible_cpus(), attached = 0;

	for (int cpu = 0; cpu < cpus; cpu++) {
		int event = (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1,
					 PERF_FLAG_FD_CLOEXEC);
		int status = event < 0 ? -errno : 0;

		/* Said of CPUs that are offline, too. */
		if (status == -ENODEV)
			continue;
		if (status)
			return error_set(error, status, "cannot attach to it: %s",
					 event_refused(status));
		status = attach_event(object, program, event, point->name, error);
		if (status)
			return status;
		attached++;
	}
	return attached ? 0
			: error_set(error, -ENODEV, "cannot attach to it: %s",
				    event_refused(-ENODEV));
}

static int attach(struct object *object, const struct bpf_program *program,
		  const struct point *point, struct file_reader *files, struct error *error)
{
	size_t links = object->link_count;
	int status;

	switch (point->kind) {
	case POINT_UPROBE:
	case POINT_URETPROBE:
		status = attach_function(object, program, point, files, error);
		break;
	case POINT_PERF:
		status = attach_perf(object, program, point, error);
		break;
	default:
		status = attach_by_libbpf(object, program, point, error);
	}
	/* All of a line or nothing of it. */
	while (status && object->link_count > links)
		bpf_link__destroy(object->links[--object->link_count]);
	return status;
}

/* The function that SEC("uprobe/PATH:FUNCTION") names. */
static int attach_section(struct object *object, const struct bpf_program *program,
			  struct file_reader *files, struct error *error)
{
	const char *section = bpf_program__section_name(program);
	struct point point;
	char text[POINT_TEXT_MAX + 1], why[256];
	int status;

	snprintf(text, sizeof(text), "%s:%s",
		 has_section(program, POINT_URETPROBE) ? "uretprobe"
		 : begins_with(section, "usdt")        ? "usdt"
						       : "uprobe",
		 strchr(section, '/') + 1);
	if (!point_parse(text, &point, why, sizeof(why)))
		return error_set(error, -EINVAL, "program %s, SEC(\"%.200s\"): %s",
				 bpf_program__name(program), section, why);
	status = attach(object, program, &point, files, error);
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
		else if (attach(object, program, &line->point, files, &error))
			ignore(probe, line, error.text);
	}
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
