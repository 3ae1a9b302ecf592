/* SPDX-License-Identifier: MIT */
/*
 * The plugin's own figures. The kernel's run statistics cost some 100 ns per
 * run of any BPF program of the machine, so they are on for a moment only, and
 * what is reported is the rate and the mean of that moment.
 */
#include "self.h"

#include "clock.h"
#include "dispatch.h"

#include "../bpf/service.h"

#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SUBJECT "self"
#define SAMPLE_US 50000

struct run {
	const char *name;
	int fd;
	uint64_t count;
	uint64_t time_ns;
};

struct runs {
	struct run *run;
	size_t count;
};

static void add_programs(struct runs *runs, const struct object *object)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object->bpf)
	{
		struct run *grown;

		if (bpf_program__fd(program) < 0)
			continue;
		grown = reallocarray(runs->run, runs->count + 1, sizeof(*grown));
		if (!grown)
			return;
		runs->run = grown;
		grown[runs->count++] = (struct run){
			.name = bpf_program__name(program),
			.fd = bpf_program__fd(program),
		};
	}
}

static bool info_read(int fd, struct bpf_prog_info *ret_info)
{
	uint32_t size = sizeof(*ret_info);

	*ret_info = (struct bpf_prog_info){ 0 };
	return fd >= 0 && bpf_obj_get_info_by_fd(fd, ret_info, &size) == 0;
}

static bool run_read(const struct run *run, uint64_t *ret_count, uint64_t *ret_time_ns)
{
	struct bpf_prog_info info;

	if (!info_read(run->fd, &info))
		return false;
	*ret_count = info.run_cnt;
	*ret_time_ns = info.run_time_ns;
	return true;
}

static void publish_run(const struct dispatch *dispatch, const struct run *run, uint64_t count,
			uint64_t time_ns, double elapsed_s)
{
	char name[128];

	snprintf(name, sizeof(name), "run_%s", run->name);
	dispatch_gauge(dispatch, SUBJECT, "operations_per_second", name,
		       (double)(count - run->count) / elapsed_s);
	if (count > run->count)
		dispatch_gauge(dispatch, SUBJECT, "duration", name,
			       (double)(time_ns - run->time_ns) / (double)(count - run->count) /
				       (double)NS_PER_S);
}

static void publish_runs(const struct dispatch *dispatch, struct runs *runs)
{
	uint64_t start_ns = clock_ns();
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	double elapsed_s;

	/* Without CAP_SYS_ADMIN there are none. */
	if (stats < 0)
		return;
	for (size_t i = 0; i < runs->count; i++)
		run_read(&runs->run[i], &runs->run[i].count, &runs->run[i].time_ns);
	usleep(SAMPLE_US);
	elapsed_s = (double)(clock_ns() - start_ns) / (double)NS_PER_S;
	for (size_t i = 0; i < runs->count; i++) {
		uint64_t count, time_ns;

		if (run_read(&runs->run[i], &count, &time_ns))
			publish_run(dispatch, &runs->run[i], count, time_ns, elapsed_s);
	}
	close(stats);
}

static void publish_named(const struct dispatch *dispatch, const char *type, const char *prefix,
			  const char *name, double gauge)
{
	char instance[128];

	snprintf(instance, sizeof(instance), "%s_%s", prefix, name);
	dispatch_gauge(dispatch, SUBJECT, type, instance, gauge);
}

static void publish_events(const struct dispatch *dispatch, const char *prefix, const char *name,
			   uint64_t count)
{
	struct value value = { .kind = SOURCE_DERIVE, .derive = (int64_t)count };
	char instance[128];

	snprintf(instance, sizeof(instance), "%s_%s", prefix, name);
	dispatch_values(dispatch, SUBJECT, "total_events", instance, &value, 1);
}

/* Events that the kernel showed to no program: it runs none while an earlier run of it
 * on the same CPU is not over. */
static void publish_missed(const struct dispatch *dispatch, const struct object *object,
			   const char *name)
{
	struct bpf_program *program;
	uint64_t missed = 0;

	bpf_object__for_each_program(program, object->bpf)
	{
		struct bpf_prog_info info;

		if (info_read(bpf_program__fd(program), &info))
			missed += info.recursion_misses;
	}
	publish_events(dispatch, "missed", name, missed);
}

/* Of the fullest table that gives rows on first use. */
static void publish_slots(const struct dispatch *dispatch, const struct probe *probe)
{
	uint32_t used = 0;
	bool any = false;

	for (size_t i = 0; i < probe->table_count; i++) {
		const struct rows *rows = &probe->tables[i].rows;
		uint32_t of_table = rows->owners.start ? rows_slots_used(rows) : 0;

		any |= rows->owners.start != NULL;
		used = of_table > used ? of_table : used;
	}
	if (any)
		publish_named(dispatch, "objects", "rows", probe->name, used);
}

static void publish_probe(const struct dispatch *dispatch, const struct services *services,
			  const struct probe *probe)
{
	bool on = probe->object.bpf != NULL;

	publish_named(dispatch, "count", "tier", probe->name, on ? probe->object.tier : 0);
	if (!on)
		return;
	if (probe->read_s > 0)
		publish_named(dispatch, "duration", "read", probe->name, probe->read_s);
	publish_named(dispatch, "memory", "maps", probe->name,
		      (double)object_memory(&probe->object, &services->object));
	publish_slots(dispatch, probe);
	publish_missed(dispatch, &probe->object, probe->name);
	if (probe->refused)
		publish_events(dispatch, "refused", probe->name, *probe->refused);
}

static void publish_services(const struct dispatch *dispatch, const struct services *services)
{
	dispatch_gauge(dispatch, SUBJECT, "objects", "services", services->shown);
	dispatch_gauge(dispatch, SUBJECT, "objects", "services_other", services->hidden);
	dispatch_gauge(dispatch, SUBJECT, "memory", "maps_services",
		       (double)object_memory(&services->object, NULL));
	publish_missed(dispatch, &services->object, "services");
	publish_events(dispatch, "refused", "services", services->news->refused);
}

void self_read(struct dispatch *dispatch, struct services *services, struct probe *probes,
	       size_t probe_count, double interval_s)
{
	struct runs runs = { 0 };

	if (!dispatch_begin(dispatch, interval_s))
		return;
	add_programs(&runs, &services->object);
	pthread_mutex_lock(&services->lock);
	for (size_t i = 0; i < probe_count; i++) {
		publish_probe(dispatch, services, &probes[i]);
		if (probes[i].object.bpf)
			add_programs(&runs, &probes[i].object);
	}
	publish_services(dispatch, services);
	pthread_mutex_unlock(&services->lock);
	publish_runs(dispatch, &runs);
	free(runs.run);
}
