/* SPDX-License-Identifier: MIT */
/*
 * PERIODIC tags: programs that each CPU's clock runs, by perf_event_open(2).
 *
 * The event is the software clock, which virtual machines have, too. Its hrtimer expires only while
 * the CPU runs a task, not while it is idle. It is given a period: the kernel refuses frequencies
 * above kernel.perf_event_max_sample_rate, which it lowers by itself, and for this clock a period
 * is equivalent.
 */
#include "periodic.h"

#include "config/config.h"
#include "object/annotation.h"
#include "object/diagnosis.h"
#include "util/clock.h"
#include "util/kernel_file.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PERIODIC_TAG "periodic:"
#define HZ "hz="
#define ONLINE "/sys/devices/system/cpu/online"

struct periodics {
	unsigned hz; /* of all programs; 0: as their tags say */
	struct bpf_link **links;
	size_t count;
	char online[PERIODIC_CPUS_MAX]; /* list of CPUs when the programs were attached */
};

static const char *periodic_text(const struct object *object, const struct bpf_program *program,
				 unsigned n)
{
	return annotation_of_program(object->bpf, program, PERIODIC_TAG, n);
}

/* Returns 0 if the text is invalid. */
static unsigned parse_periodic_hz(const char *text)
{
	const char *digits = text + strlen(HZ);
	size_t length;

	if (strncmp(text, HZ, strlen(HZ)) != 0)
		return 0;
	length = strspn(digits, "0123456789");
	if (length == 0 || length > 4 || digits[length] != '\0')
		return 0;
	length = (size_t)atoi(digits);
	return length <= CONFIG_FREQUENCY_MAX ? (unsigned)length : 0;
}

unsigned periodic_hz(const struct object *object, const struct bpf_program *program)
{
	const char *text = periodic_text(object, program, 0);

	return text ? parse_periodic_hz(text) : 0;
}

static int check_periodic_tag(const struct object *object, const struct bpf_program *program,
			      struct error *error)
{
	const char *name = bpf_program__name(program);

	if (periodic_text(object, program, 1))
		return error_set(error, -EINVAL, "program %s: two PERIODIC tags", name);
	if (!periodic_hz(object, program))
		return error_set(error, -EINVAL,
				 "program %s: \"%.32s\" is not PERIODIC(\"hz=NUMBER\"), with a "
				 "number from 1 to %d",
				 name, periodic_text(object, program, 0), CONFIG_FREQUENCY_MAX);
	if (strcmp(bpf_program__section_name(program), "perf_event") != 0)
		return error_set(error, -EINVAL, "program %s: PERIODIC is for SEC(\"perf_event\")",
				 name);
	return 0;
}

static void periodic_done(struct object *object)
{
	periodic_undo(object);
	if (object->periodics)
		free(object->periodics->links);
	free(object->periodics);
	object->periodics = NULL;
}

static int set_hz(struct object *object, struct error *error)
{
	const uint32_t *hz = object_variable(object, "hz", sizeof(*hz));

	if (hz && (*hz == 0 || *hz > CONFIG_FREQUENCY_MAX))
		return error_set(error, -EINVAL, "hz is %u, which is not from 1 to %d", *hz,
				 CONFIG_FREQUENCY_MAX);
	object->periodics = calloc(1, sizeof(*object->periodics));
	if (!object->periodics)
		return error_set(error, -ENOMEM, "no memory");
	object->periodics_done = periodic_done;
	object->periodics->hz = hz ? *hz : 0;
	return 0;
}

int periodic_prepare(struct object *object, struct error *error)
{
	struct bpf_program *program;
	bool any = false;

	bpf_object__for_each_program(program, object->bpf)
	{
		int status = periodic_text(object, program, 0)
				     ? check_periodic_tag(object, program, error)
				     : 0;

		if (status)
			return status;
		any |= periodic_text(object, program, 0) != NULL;
	}
	return any ? set_hz(object, error) : 0;
}

static int add_periodic_link(struct periodics *all, struct bpf_link *link, struct error *error)
{
	struct bpf_link **grown = reallocarray(all->links, all->count + 1, sizeof(*grown));

	if (!grown) {
		bpf_link__destroy(link);
		return error_set(error, -ENOMEM, "no memory");
	}
	all->links = grown;
	all->links[all->count++] = link;
	return 0;
}

/* Returns -ENODEV if the CPU is offline. */
static int attach_cpu(struct periodics *all, const struct bpf_program *program, unsigned hz,
		      int cpu, struct error *error)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = NS_PER_S / hz,
		.exclude_idle = 1,
	};
	int event =
		(int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	struct bpf_link *link = NULL;
	int status = event < 0 ? -errno : 0;

	if (status == -ENODEV)
		return status;
	diagnosis_begin();
	if (event >= 0)
		link = bpf_program__attach_perf_event(program, event);
	if (!link)
		status = diagnosis_error(FAILED_ATTACH, "perf_event", status ?: -errno, error);
	diagnosis_end();
	if (status && event >= 0)
		close(event);
	return status ?: add_periodic_link(all, link, error);
}

static int attach_to_all_cpus(struct periodics *all, const struct bpf_program *program, unsigned hz,
			      struct error *error)
{
	int cpus = libbpf_num_possible_cpus(), attached = 0;

	for (int cpu = 0; cpu < cpus; cpu++) {
		int status = attach_cpu(all, program, hz, cpu, error);

		if (status && status != -ENODEV)
			return status;
		attached += status == 0;
	}
	return attached ? 0 : error_set(error, -ENODEV, "cannot attach to perf_event: no CPU");
}

void periodic_list_online(char list[PERIODIC_CPUS_MAX])
{
	ssize_t length = kernel_file_read(ONLINE, list, PERIODIC_CPUS_MAX - 1);

	list[length > 0 ? length : 0] = '\0';
}

int periodic_attach(struct object *object, struct error *error)
{
	struct periodics *all = object->periodics;
	struct bpf_program *program;
	int status = 0;

	if (!all)
		return 0;
	/* Read first: a CPU that comes online meanwhile is noticed at the next call. */
	periodic_list_online(all->online);
	bpf_object__for_each_program(program, object->bpf)
	{
		unsigned hz = periodic_hz(object, program);

		if (status == 0 && hz && bpf_program__autoload(program))
			status = attach_to_all_cpus(all, program, all->hz ?: hz, error);
	}
	if (status) {
		periodic_undo(object);
		all->online[0] = '\0'; /* makes periodic_follow() try again */
	}
	return status;
}

int periodic_follow(struct object *object, const char *online, struct error *error)
{
	if (!object->periodics || !strcmp(object->periodics->online, online))
		return 0;
	periodic_undo(object);
	return periodic_attach(object, error);
}

size_t periodic_links(const struct object *object)
{
	return object->periodics ? object->periodics->count : 0;
}

void periodic_undo(struct object *object)
{
	struct periodics *all = object->periodics;

	while (all && all->count)
		bpf_link__destroy(all->links[--all->count]);
}
