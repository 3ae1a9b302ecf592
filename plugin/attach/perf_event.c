/* SPDX-License-Identifier: MIT */
/*
 * Programs on perf events: one link per CPU.
 */
#include "perf_event.h"

#include "object/diagnosis.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Closes the event if it fails. */
static int attach_event(struct object *object, const struct bpf_program *program, int event,
			const char *what, struct error *error)
{
	struct bpf_link *link;
	int status = 0;

	diagnosis_begin();
	link = bpf_program__attach_perf_event(program, event);
	if (!link)
		status = diagnosis_error(FAILED_ATTACH, what, -errno, error);
	diagnosis_end();
	if (status)
		close(event);
	return status ?: object_add_link(object, link, error);
}

/* Attaches to the event on each online CPU. */
static int attach_to_cpus(struct object *object, const struct bpf_program *program,
			  const struct hook *hook, struct error *error)
{
	struct perf_event_attr attributes = {
		.type = hook->perf_type,
		.size = sizeof(attributes),
		.config = hook->perf_config,
		.sample_period = hook->period ?: hook->frequency,
		.freq = hook->period == 0,
	};
	int cpus = libbpf_num_possible_cpus(), attached = 0;

	for (int cpu = 0; cpu < cpus; cpu++) {
		int event = (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1,
					 PERF_FLAG_FD_CLOEXEC);
		int status = event < 0 ? -errno : 0;

		/* Offline CPUs return this, too. */
		if (status == -ENODEV)
			continue;
		if (status)
			return diagnosis_of_hook(hook, status, error);
		status = attach_event(object, program, event, hook->name, error);
		if (status)
			return status;
		attached++;
	}
	return attached ? 0 : diagnosis_of_hook(hook, -ENODEV, error);
}

int perf_event_attach(struct object *object, const struct attachment *attachment,
		      struct error *error)
{
	size_t links = object->link_count;
	int status = attach_to_cpus(object, attachment->program, attachment->hook, error);

	while (status && object->link_count > links)
		bpf_link__destroy(object->links[--object->link_count]);
	return status;
}
