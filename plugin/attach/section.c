/* SPDX-License-Identifier: MIT */
/*
 * Programs that libbpf attaches by the text of their sections.
 */
#include "section.h"

#include "object/annotation.h"
#include "object/diagnosis.h"
#include "object/iter_map.h"
#include "object/sample.h"
#include "program_kind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WHEN_TAG "when:"

/* Such a program has no hook; each reading runs it. */
static bool is_call(const struct bpf_program *program)
{
	return bpf_program__type(program) == BPF_PROG_TYPE_SYSCALL;
}

static bool is_walk(const struct bpf_program *program)
{
	return is_call(program) || strncmp(bpf_program__section_name(program), "iter", 4) == 0;
}

/* For these sections libbpf would read an ELF file in this process. */
static bool is_section_of_file(const struct bpf_program *program)
{
	return bpf_program__type(program) == BPF_PROG_TYPE_KPROBE &&
	       bpf_program__section_name(program)[0] == 'u';
}

static int find_when(struct object *object, const struct bpf_program *program,
		     const uint32_t **ret_when, struct error *error)
{
	const char *name = annotation_of_program(object->bpf, program, WHEN_TAG, 0);

	*ret_when = name ? object_variable(object, name, sizeof(**ret_when)) : NULL;
	if (name && !*ret_when)
		return error_set(error, -EINVAL,
				 "program %s: the object has no variable \"%.60s\" of type u32, "
				 "which WHEN names",
				 bpf_program__name(program), name);
	return 0;
}

/* Adds a program that readings or a sampler run; without a link it is a SEC("syscall") program. The
 * link is the object's then, also after a failure. */
static int add_walk(struct object *object, const struct bpf_program *program, struct bpf_link *link,
		    struct error *error)
{
	unsigned hz = sample_hz(object, program);
	const uint32_t *when;
	int status = find_when(object, program, &when, error);

	if (hz)
		object->samples[object->sample_count++] =
			(struct sample){ .link = link, .program = program, .when = when, .hz = hz };
	else
		object->walks[object->walk_count++] =
			(struct reading_walk){ .link = link, .program = program, .when = when };
	return status;
}

static int attach_by_section(struct object *object, struct bpf_program *program,
			     struct error *error)
{
	const char *section = bpf_program__section_name(program);
	struct bpf_link *link;
	int status = 0;

	if (is_call(program))
		return add_walk(object, program, NULL, error);
	if (is_section_of_file(program))
		return error_set(error, -EOPNOTSUPP, "cannot attach to %.100s: not supported",
				 section);
	diagnosis_begin();
	link = program_iterates_map(program) ? iter_map_attach(object, program)
					     : bpf_program__attach(program);
	if (!link && errno == EACCES && program_iterates_map(program))
		status = error_set(error, -EACCES,
				   "cannot attach to %s: the program %s reads more of a key or "
				   "value than the map has that it walks over",
				   section, bpf_program__name(program));
	else if (!link)
		status = diagnosis_error(FAILED_ATTACH, section, -errno, error);
	diagnosis_end();
	if (status)
		return status;
	return is_walk(program) ? add_walk(object, program, link, error)
				: object_add_link(object, link, error);
}

int section_attach_programs(struct object *object, bool iterators, struct error *error)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object->bpf)
	{
		int status = 0;

		if (bpf_program__autoload(program) && bpf_program__autoattach(program) &&
		    !program_is_attached_by_engine(program) && (iterators || !is_walk(program)))
			status = attach_by_section(object, program, error);
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
	status = section_attach_programs(object, true, error);
	if (status)
		return status;
	if (object->hook_set == 0)
		object->hook_set = 1;
	return 0;
}
