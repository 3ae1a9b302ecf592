/* SPDX-License-Identifier: MIT */
/*
 * Links of a program to a point in the kernel that the configuration names.
 */
#include "link.h"

#include "kernel_refusal.h"
#include "object/diagnosis.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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

static struct bpf_link *create(const struct attachment *attachment)
{
	const struct point *point = attachment->point;
	LIBBPF_OPTS(bpf_kprobe_opts, function, .offset = point->offset,
		    .retprobe = attachment->at_return, .bpf_cookie = attachment->cookie);
	LIBBPF_OPTS(bpf_trace_opts, trace, .cookie = attachment->cookie);

	switch (point->kind) {
	case POINT_TRACEPOINT:
		return bpf_program__attach_tracepoint(attachment->program, point->category,
						      point->name);
	case POINT_FENTRY:
		return bpf_program__attach_trace_opts(attachment->program, &trace);
	default:
		return bpf_program__attach_kprobe_opts(attachment->program, point->name, &function);
	}
}

static int attach_by_libbpf(struct object *object, const struct attachment *attachment,
			    struct error *error)
{
	struct bpf_link *link;
	int status = 0;

	diagnosis_begin();
	link = create(attachment);
	if (!link)
		status = kernel_refusal(attachment->point, -errno, error);
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

int link_point(struct object *object, const struct attachment *attachment, struct error *error)
{
	size_t links = object->link_count;
	int status;

	if (attachment->point->kind == POINT_PERF)
		status = attach_perf(object, attachment->program, attachment->point, error);
	else
		status = attach_by_libbpf(object, attachment, error);
	/* All of a line or nothing of it. */
	while (status && object->link_count > links)
		bpf_link__destroy(object->links[--object->link_count]);
	return status;
}
