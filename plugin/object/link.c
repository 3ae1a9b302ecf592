/* SPDX-License-Identifier: MIT */
/*
 * Links of a program to an attach point that a Probe block or a section names.
 */
#include "link.h"

#include "diagnosis.h"
#include "system/uprobe.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MARKER_ARGUMENTS \
	"__bpf_usdt_specs" /* of libbpf's usdt.bpf.h, which libbpf alone can fill */

int link_add(struct object *object, struct bpf_link *link, struct error *error)
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
	return status ?: link_add(object, link, error);
}

/* Has the program been written for arguments that it would not be given? */
static bool wants_arguments(const struct object *object)
{
	return object_map(object, MARKER_ARGUMENTS) != NULL;
}

static int attach_places(struct object *object, const struct bpf_program *program,
			 const struct point *point, const struct symbol_file *file,
			 const struct symbol_found *found, struct file_reader *files,
			 struct error *error)
{
	bool at_return = point->kind == POINT_URETPROBE;
	struct error why;

	for (size_t i = 0; i < found->count; i++) {
		int event, status;

		if (at_return && found->places[i].flags & SYMBOL_GO)
			return error_set(
				error, -EOPNOTSUPP,
				"cannot attach to %s: it is a function of Go, whose "
				"stacks move: a program at its return would end the service",
				point->path);
		status = uprobe_event(files, file, &found->places[i], at_return, &event, &why);
		if (status)
			return error_set(error, status, "cannot attach to %s: %s", point->path,
					 why.text);
		status = attach_event(object, program, event, point->path, error);
		if (status)
			return status;
	}
	return 0;
}

/* To a function, or to all places of a marker: the compiler may have made several. */
static int attach_file(struct object *object, const struct bpf_program *program,
		       const struct point *point, struct file_reader *files, struct error *error)
{
	struct symbol_wanted wanted = { .kind = point->kind == POINT_USDT ? SYMBOL_MARKER
									  : SYMBOL_FUNCTION,
					.name = point->name,
					.offset = point->offset };
	struct symbol_file file = SYMBOL_FILE_NONE;
	struct symbol_found found = { 0 };
	struct error why;
	int status;

	if (point->service)
		return error_set(error, -EOPNOTSUPP, "files of services are not supported");
	if (point->kind == POINT_USDT && wants_arguments(object))
		return error_set(error, -EOPNOTSUPP,
				 "arguments of markers are not supported, and the object includes "
				 "usdt.bpf.h");
	status = symbol_open(files, point->path, 0, &file, &why);
	status = status ?: symbol_find(files, &file, &wanted, 1, &found, &why);
	if (status == 0 && found.status) {
		status = found.status;
		why = found.error;
	}
	if (status)
		error_set(error, status, "cannot read %s: %s", point->path, why.text);
	else
		status = attach_places(object, program, point, &file, &found, files, error);
	symbol_found_done(&found, 1);
	symbol_close(&file);
	return status;
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
	return status ?: link_add(object, link, error);
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

int link_point(struct object *object, const struct bpf_program *program, const struct point *point,
	       struct file_reader *files, struct error *error)
{
	size_t links = object->link_count;
	int status;

	switch (point->kind) {
	case POINT_UPROBE:
	case POINT_URETPROBE:
	case POINT_USDT:
		status = attach_file(object, program, point, files, error);
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
