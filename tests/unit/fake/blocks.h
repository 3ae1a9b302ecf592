/* SPDX-License-Identifier: MIT */
#ifndef BLOCKS_H
#define BLOCKS_H

#include "maps.h"
#include "oconfig.h"
#include "resolver.h"
#include "tests/unit/testing.h"
#include "walks.h"

#include "bpf/lib/services/service.h"
#include "plugin/object/engine_object.h"
#include "plugin/service/response_map.h"
#include "plugin/service/rule.h"
#include "plugin/service/service.h"

#include <sys/types.h>
#include <unistd.h>

/* Service blocks of a configuration, in effect in the engine's own object; its maps and
 * iterators are played. */

#define PROCESSES_MAX 32

struct fixture {
	struct config config;
	struct services services;
	struct service_counters counters;
	struct file_helper files;
	struct reading_walk *listed; /* in place of the object's iterator */
};

static inline int fixture_init(struct fixture *f, const char *text)
{
	oconfig_item_t *block = oconfig_read(text);
	struct object *object = &f->services.object;
	struct resolver *resolver = &f->services.resolver;
	struct error error = { "" };

	*f = (struct fixture){ .listed = NULL };
	config_init(&f->config);
	CHECK_UINT(config_read(&f->config, block), 0);
	oconfig_free(block);
	if (engine_object_open(object, &error)) {
		printf("%s\n", error.text);
		exit(1);
	}
	f->listed = object_walked_by(object, 1);
	bpf_map__fd(bpf_object__find_map_by_name(object->bpf, "assignments"));
	CHECK_INT(rules_prepare(&f->config, object, &error), 0);
	CHECK_INT(rules_fill(&f->config, object, &error), 0);
	CHECK_INT(responses_prepare(&f->config, object, &error), 0);
	CHECK_INT(responses_fill(&f->config, object, &error), 0);
	file_helper_init(&f->files);
	resolver_of(&f->services, &f->config, &f->counters);
	resolver->files = &f->files;
	name_tables_init(&f->services.names);
	resolver->names = &f->services.names;
	return resolver_start(resolver, &error);
}

static inline void fixture_done(struct fixture *f)
{
	maps_clear();
	object_walks_forget(&f->services.object, f->listed);
	resolver_done(&f->services.resolver);
	name_tables_done(&f->services.names);
	file_helper_done(&f->files);
	object_done(&f->services.object);
	config_done(&f->config);
}

/* Free rows for names, as of the last refresh. */
static inline void set_free_rows(struct fixture *f, uint32_t count)
{
	f->services.lifecycle.free_rows.services = count;
}

/* The kernel counts one process without a row, whose name has no row either. */
static inline void set_unassigned_name(struct fixture *f)
{
	f->counters.unassigned = f->counters.unassigned_names = 1;
}

/* The kernel had no storage for so many processes. */
static inline void set_refused(struct fixture *f, uint64_t count)
{
	f->counters.refused = count;
}

/* The kernel has found another cgroup, which is to be inspected. */
static inline void add_cgroup(struct fixture *f)
{
	f->counters.groups++;
	f->counters.groups_to_inspect++;
}

/* The names of containers may have changed. */
static inline void begin_names(struct fixture *f)
{
	f->services.names.containers.round++;
}

/* The processes that the kernel lists, and the assignments that it gets. An assignment is in the
 * map only during the walk in which the kernel carries it out. */
static struct listed_process listed[PROCESSES_MAX];
static struct assignment assignments[PROCESSES_MAX];
static size_t listed_count;

static inline void copy_assignments(void)
{
	for (size_t i = 0; i < listed_count; i++) {
		struct assignment assignment;

		if (maps_get("assignments", &listed[i].pid, &assignment))
			assignments[i] = assignment;
	}
}

/* A process to which the kernel has given a row. */
static inline struct listed_process *list(pid_t pid, pid_t parent, uint32_t row)
{
	struct listed_process *process = &listed[listed_count++];

	*process = (struct listed_process){
		.start_ns = 1000 + (uint64_t)pid,
		.pid = (uint32_t)pid,
		.parent = (uint32_t)parent,
		.row = row,
		.uid = geteuid(), /* the owner of a test's pid files */
		.flags = LISTED_UNCLASSIFIED,
	};
	return process;
}

/* A process that has not called exec since its fork. */
static inline struct listed_process *list_forked(pid_t pid, pid_t parent, uint32_t row)
{
	struct listed_process *process = list(pid, parent, row);

	process->flags |= LISTED_FORKED;
	return process;
}

/* Runs the resolver as after an exec, and records the assignments. */
static inline void resolve(struct fixture *f)
{
	memset(assignments, 0, sizeof(assignments));
	maps_iterate(listed, listed_count * sizeof(*listed));
	maps_on_walk = copy_assignments;
	f->counters.unclassified++;
	resolver_run(&f->services.resolver, 1);
	CHECK_INT(f->services.resolver.failing, false);
	CHECK_UINT(maps_count("assignments"), 0);
	listed_count = 0;
}

#endif
