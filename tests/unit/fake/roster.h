/* SPDX-License-Identifier: MIT */
#ifndef ROSTER_H
#define ROSTER_H

#include "maps.h"
#include "tests/unit/testing.h"

#include "bpf/lib/service.h"
#include "plugin/object/image.h"
#include "plugin/service/row_name.h"
#include "plugin/service/service.h"
#include "plugin/util/clock.h"

/* The engine's rows of services; the kernel's side of them is played by hand. */

#define S(seconds) ((uint64_t)((seconds) * (double)NS_PER_S))
#define INTERVAL_S 10
#define ROWS 6 /* other, kernel, one that is configured, three for command names */
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

static inline void fix(struct fixture *f, uint32_t row, const char *name)
{
	f->services.lifecycle.states[row] = (struct service_state){
		.state = ROW_SHOWN,
		.subject = subjects_enter(&f->services.lifecycle.subjects, SUBJECT_SERVICE, name),
		.fixed = true,
	};
}

/* As services_open() leaves it, but for what needs a kernel. */
static inline void fixture_init(struct fixture *f)
{
	struct services *s = &f->services;
	struct error error = { "" };

	*f = (struct fixture){ .service = { .name = "web", .top_n = 7, .per_process = true } };
	f->config = (struct config){ .services = &f->service, .service_count = 1 };
	if (image_open(&s->object, &error)) {
		printf("%s\n", error.text);
		exit(1);
	}
	s->lifecycle.config = &f->config;
	s->lifecycle.object = &s->object;
	s->lifecycle.kernel_rows = f->kernel_rows;
	s->counters = &f->counters;
	name_tables_init(&s->names);
	s->resolver.names = &s->names;
	s->lifecycle.kernel_labels = f->labels;
	s->lifecycle.row_count = ROWS;
	s->lifecycle.reserve_begin = ROWS;
	s->lifecycle.process_row_count = PROCESS_ROWS;
	s->lifecycle.interval_ns = S(INTERVAL_S);
	allowance_init(&s->lifecycle.news, 1000000);
	s->lifecycle.states = calloc(ROWS, sizeof(*s->lifecycle.states));
	s->lifecycle.notable = calloc(ROWS, sizeof(*s->lifecycle.notable));
	s->lifecycle.names = calloc(ROWS, sizeof(*s->lifecycle.names));
	s->lifecycle.process_rows = calloc(PROCESS_ROWS, sizeof(*s->lifecycle.process_rows));
	for (uint32_t i = 0; i < PROCESS_ROWS; i++)
		s->lifecycle.process_rows[i].subject = -1;
	/* Not subject 0, where what is forgotten would be, too. */
	fix(f, SERVICE_KERNEL, "kernel");
	fix(f, SERVICE_OTHER, "other");
	fix(f, CONFIGURED, "web");
	subjects_take(&s->lifecycle.subjects, SUBJECT_NONE, "self", 0);
	subjects_take(&s->lifecycle.subjects, SUBJECT_PROCESS, "web", 2);
	for (const char **map = (const char *[]){ "service_names", "service_free",
						  "service_reserve", "process_free", NULL };
	     *map; map++) {
		struct bpf_map *known = bpf_object__find_map_by_name(s->object.bpf, *map);

		bpf_map__set_max_entries(known, ROWS);
		bpf_map__fd(known);
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

/* Whose series a row's growth belongs to. */
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

/* The kernel gives a row to a key, of which some processes run. */
static inline void take_key(struct fixture *f, uint32_t row, uint32_t kind, const char *text,
			    int64_t processes)
{
	struct group_key key = key_of(kind, text);
	const struct service_name name = { row, 1 };

	f->kernel_rows[row].key = key;
	f->kernel_rows[row].processes = processes;
	f->kernel_rows[row].flags = SERVICE_USED;
	CHECK_INT(maps_put("service_names", &key, &name), true);
}

static inline void take_row(struct fixture *f, uint32_t row, const char *text, int64_t processes)
{
	take_key(f, row, GROUP_COMMAND, text, processes);
}

static inline uint64_t generation_of(const struct fixture *f, uint32_t row)
{
	return f->services.lifecycle.subjects.subject[snapshot_subject(f->services.snapshot, row)]
		.generation;
}

/* Has series, and ends. Returns their generation. */
static inline uint64_t live_until_120(struct fixture *f, uint32_t row, const char *name)
{
	uint64_t generation;

	take_row(f, row, name, 1);
	refresh(f, 100);
	refresh(f, 110);
	generation = generation_of(f, row);
	f->kernel_rows[row].processes = 0;
	refresh(f, 120);
	return generation;
}

#endif
