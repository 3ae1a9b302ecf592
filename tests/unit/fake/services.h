/* SPDX-License-Identifier: MIT */
/*
 * The life of services and of their rows, in the engine; the kernel's side is played by tests. Only
 * this file sets members of struct services and struct lifecycle, and of what the kernel shares
 * with them.
 */
#ifndef FAKE_SERVICES_H
#define FAKE_SERVICES_H

#include "maps.h"
#include "resolver.h"
#include "string_list.h"
#include "tests/unit/testing.h"

#include "bpf/lib/services/service.h"
#include "plugin/object/engine_object.h"
#include "plugin/service/row_name.h"
#include "plugin/service/service.h"
#include "plugin/util/clock.h"

#define S(seconds) ((uint64_t)((seconds) * (double)NS_PER_S))
#define INTERVAL_S 10
#define ROWS 6 /* other, kernel, a configured service, three for command names */
#define PROCESS_ROWS 3
#define CONFIGURED SERVICE_FIRST

struct fixture {
	struct config config;
	struct service_config service;
	struct services services;
	struct service kernel_rows[ROWS];
	struct service_counters counters;
	struct process_label labels[PROCESS_ROWS];
};

static inline void show_fixed(struct fixture *f, uint32_t row, const char *name)
{
	f->services.lifecycle.states[row] = (struct service_state){
		.state = ROW_SHOWN,
		.subject = subjects_enter(&f->services.lifecycle.subjects, SUBJECT_SERVICE, name),
		.fixed = true,
	};
}

/* As services_open() leaves it, without what needs a kernel. */
static inline void fixture_init(struct fixture *f)
{
	struct services *s = &f->services;
	struct error error = { "" };

	*f = (struct fixture){ .service = { .name = "web", .top_n = 7, .per_process = true } };
	f->config = (struct config){ .services = &f->service, .service_count = 1 };
	if (engine_object_open(&s->object, &error)) {
		printf("%s\n", error.text);
		exit(1);
	}
	s->lifecycle.config = &f->config;
	s->lifecycle.object = &s->object;
	s->lifecycle.kernel_rows = f->kernel_rows;
	resolver_of(s, &f->config, &f->counters);
	name_tables_init(&s->names);
	s->resolver.names = &s->names;
	service_cgroups_init(&s->service_cgroups, &f->config, &s->names.users, &s->names.containers,
			     f->kernel_rows, ROWS);
	s->lifecycle.kernel_labels = f->labels;
	s->lifecycle.row_count = ROWS;
	s->lifecycle.reserve_begin = ROWS;
	s->lifecycle.process_row_count = PROCESS_ROWS;
	s->lifecycle.interval_ns = S(INTERVAL_S);
	allowance_init(&s->lifecycle.new_series_budget, 1000000);
	s->lifecycle.states = calloc(ROWS, sizeof(*s->lifecycle.states));
	s->lifecycle.active = calloc(ROWS, sizeof(*s->lifecycle.active));
	s->lifecycle.names = calloc(ROWS, sizeof(*s->lifecycle.names));
	s->lifecycle.process_rows = calloc(PROCESS_ROWS, sizeof(*s->lifecycle.process_rows));
	for (uint32_t i = 0; i < PROCESS_ROWS; i++)
		s->lifecycle.process_rows[i].subject = -1;
	/* The kernel first: a row that lost its subject by mistake would be of subject 0. */
	show_fixed(f, SERVICE_KERNEL, "kernel");
	show_fixed(f, SERVICE_OTHER, "other");
	show_fixed(f, CONFIGURED, "web");
	subjects_reserve(&s->lifecycle.subjects, SUBJECT_NONE, "self", 0);
	subjects_reserve(&s->lifecycle.subjects, SUBJECT_PROCESS, "web", 2);
	for (const char **map = (const char *[]){ "service_names", "service_free",
						  "service_reserve", "process_free", NULL };
	     *map; map++) {
		struct bpf_map *played = bpf_object__find_map_by_name(s->object.bpf, *map);

		bpf_map__set_max_entries(played, ROWS);
		bpf_map__fd(played);
	}
	services_refresh(s, 0);
}

static inline void fixture_done(struct fixture *f)
{
	f->services.lifecycle.kernel_rows = NULL;
	f->services.lifecycle.kernel_labels = NULL;
	maps_clear();
	services_done(&f->services);
}

static inline void refresh(struct fixture *f, double now_s)
{
	services_refresh(&f->services, S(now_s));
	services_catch_up(&f->services, S(now_s));
}

static inline void read_at(struct fixture *f, int subscriber, double now_s)
{
	subscribers_read(&f->services.lifecycle.subscribers, subscriber, S(now_s));
}

static inline enum row_state state(const struct fixture *f, uint32_t row)
{
	return f->services.lifecycle.states[row].state;
}

/* The name of the series that a row's growth is added to. */
static inline const char *subject(const struct fixture *f, uint32_t row)
{
	int subject = snapshot_subject(f->services.snapshot, row);

	return subject < 0 ? "(none)" : f->services.snapshot->subjects.subject[subject].name;
}

static inline struct group_key key_of(uint32_t kind, const char *text)
{
	struct group_key key = { .kind = kind };

	memcpy(key.text, text, strnlen(text, kind ? sizeof(key.text) : SERVICE_NAME_LEN));
	return key;
}

/* As the kernel does when the first process of a key appears. */
static inline void claim_key(struct fixture *f, uint32_t row, uint32_t kind, const char *text,
			     int64_t processes)
{
	struct group_key key = key_of(kind, text);
	const struct service_name name = { row, 1 };

	f->kernel_rows[row].key = key;
	f->kernel_rows[row].processes = processes;
	f->kernel_rows[row].flags = SERVICE_USED;
	CHECK_INT(maps_put("service_names", &key, &name), true);
}

/* How many processes the kernel counts in a row. */
static inline void set_processes(struct fixture *f, uint32_t row, int64_t processes)
{
	f->kernel_rows[row].processes = processes;
}

/* The same, of which the first came at this time. */
static inline void begin_processes(struct fixture *f, uint32_t row, int64_t processes,
				   double began_s)
{
	set_processes(f, row, processes);
	f->kernel_rows[row].began_ns = S(began_s);
}

/* The kernel uses a row whose key is empty and which has no process. */
static inline void use_row(struct fixture *f, uint32_t row)
{
	f->kernel_rows[row].flags = SERVICE_USED;
}

static inline struct group_key key_of_row(const struct fixture *f, uint32_t row)
{
	return f->kernel_rows[row].key;
}

/* The kernel has such a process in a row of processes. */
static inline void label_process(struct fixture *f, uint32_t process, double start_s, uint32_t pid,
				 uint32_t row, uint32_t process_state)
{
	f->labels[process] = (struct process_label){
		.start_ns = S(start_s), .pid = pid, .row = row, .state = process_state
	};
}

static inline void end_process(struct fixture *f, uint32_t process)
{
	f->labels[process].state = PROCESS_ENDED;
}

static inline void set_interval(struct fixture *f, uint64_t interval_ns)
{
	f->services.lifecycle.interval_ns = interval_ns;
}

/* How many new names may have series in an hour, and how many of these are left. */
static inline void allow_names(struct fixture *f, double an_hour, double left)
{
	allowance_init(&f->services.lifecycle.new_series_budget, an_hour);
	f->services.lifecycle.new_series_budget.left = left;
}

/* The same of names of units and containers. */
static inline void allow_group_names(struct fixture *f, double an_hour, double left)
{
	allowance_init(&f->services.lifecycle.group_new_series_budget, an_hour);
	f->services.lifecycle.group_new_series_budget.left = left;
}

/* Rows from here on are for units and containers only. */
static inline void reserve_rows(struct fixture *f, uint32_t first)
{
	f->services.lifecycle.reserve_begin = first;
}

/* Service blocks name groups of these sources, bits SERVICES_FROM_... */
static inline void name_groups_of(struct fixture *f, unsigned sources)
{
	f->services.lifecycle.named_sources = sources;
}

/* PidFile lines of the configured service; the caller owns the paths. */
static inline void set_pid_files(struct fixture *f, struct strings paths)
{
	f->service.pid_files = paths;
}

static inline void set_max_new_services(struct fixture *f, unsigned an_hour)
{
	f->config.max_new_services = an_hour;
}

static inline void refuse_names(struct fixture *f, uint64_t count)
{
	f->services.lifecycle.names_refused += count;
}

/* As if the last message about refused names were an hour older. */
static inline void age_refusal_message(struct fixture *f)
{
	f->services.logged_ns -= 3601 * NS_PER_S;
}

static inline void claim_row(struct fixture *f, uint32_t row, const char *text, int64_t processes)
{
	claim_key(f, row, GROUP_COMMAND, text, processes);
}

static inline uint64_t generation_of(const struct fixture *f, uint32_t row)
{
	return f->services.lifecycle.subjects.subject[snapshot_subject(f->services.snapshot, row)]
		.generation;
}

/* A service that has series from 110 s on and no process from 120 s on; returns the generation
 * of its subject. */
static inline uint64_t live_until_120(struct fixture *f, uint32_t row, const char *name)
{
	uint64_t generation;

	claim_row(f, row, name, 1);
	refresh(f, 100);
	refresh(f, 110);
	generation = generation_of(f, row);
	set_processes(f, row, 0);
	refresh(f, 120);
	return generation;
}

#endif
