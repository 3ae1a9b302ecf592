/* SPDX-License-Identifier: MIT */
/*
 * Links of a program to an attach point that a Probe block or a section names.
 */
#include "link.h"

#include "diagnosis.h"
#include "system/clock.h"
#include "system/uprobe.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MARKER_PLACES_MAX 256
#define MARKER_WAIT_MS 5000 /* of all its places */
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

static int tell_file(int status, enum uprobe_step step, const char *path, struct error *error)
{
	return error_set(error, status, "cannot %s %s: %s",
			 step == UPROBE_ATTACH ? "attach to" : "read", path,
			 uprobe_strerror(status, step));
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
		return tell_file(status, step, point->path, error);
	return attach_event(object, program, event, point->path, error);
}

/* Has the program been written for arguments that it would not be given? */
static bool wants_arguments(const struct object *object)
{
	return object_map(object, MARKER_ARGUMENTS) != NULL;
}

/* The compiler may have made several places of one. */
static int attach_marker(struct object *object, const struct bpf_program *program,
			 const struct point *point, struct file_reader *files, struct error *error)
{
	struct uprobe_request request = { .path = point->path, .marker = point->name };
	uint64_t end_ns = clock_ns() + MARKER_WAIT_MS * 1000000ULL;

	if (wants_arguments(object))
		return error_set(error, -EOPNOTSUPP,
				 "arguments of markers are not supported, and the object includes "
				 "usdt.bpf.h");
	for (; request.index <= MARKER_PLACES_MAX; request.index++) {
		enum uprobe_step step;
		int event, status = uprobe_open(files, &request, &event, &step);

		if (status == -ENOMSG && step == UPROBE_SEARCH && request.index)
			return 0;
		if (status)
			return tell_file(status, step, point->path, error);
		status = attach_event(object, program, event, point->path, error);
		if (status)
			return status;
		if (clock_ns() > end_ns)
			return error_set(error, -ETIMEDOUT,
					 "cannot read %s: to find all places of the marker takes "
					 "too long",
					 point->path);
	}
	return error_set(error, -E2BIG, "cannot attach to %s: the marker is in more than %d places",
			 point->path, MARKER_PLACES_MAX);
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
		status = attach_function(object, program, point, files, error);
		break;
	case POINT_USDT:
		status = attach_marker(object, program, point, files, error);
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
