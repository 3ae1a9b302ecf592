/* SPDX-License-Identifier: MIT */
/*
 * A table of rows with keys; a source of this file lists the rows.
 */
#ifndef FAKE_KEYS_H
#define FAKE_KEYS_H
#include "tests/unit/testing.h"

#include "tests/unit/fake/label.h"
#include "tests/unit/fake/snapshot.h"
#include "tests/unit/fake/string_list.h"
#include "tests/unit/fake/table.h"

#include "bpf/lib/services/service.h"
#include "plugin/table/key_name.h"
#include "plugin/table/keys.h"
#include "plugin/table/kind.h"

#define KEYS 64
#define HOUR 3600

struct key {
	uint32_t service, number;
};

struct fixture {
	struct table table;
	struct fake_snapshot services;
	uint64_t now_s;
};

/* The content of the map: keys and counters. */
static struct given {
	struct key key;
	uint64_t count;
} map[KEYS];
static size_t map_count;

static inline int start(struct rows *rows, struct error *error)
{
	return rows && error ? 0 : -1;
}

static inline int each(struct rows *rows, row_visitor *add_row, void *to, struct error *error)
{
	int status = 0;

	for (size_t i = 0; i < map_count && status == 0; i++) {
		const struct source_row row = {
			.key = &map[i].key,
			.bytes = { (const unsigned char *)&map[i].count, 1, rows->stride },
			.cpu = -1,
		};

		status = add_row(to, &row, error);
	}
	return status;
}

static inline uint64_t memory(const struct rows *rows)
{
	return rows->count;
}

static const struct source source = { .start = start, .each = each, .memory = memory };

static inline void show_service(struct fixture *f, uint32_t row, const char *name)
{
	show_row(&f->services, row, SUBJECT_SERVICE, name);
}

/* With labels for the service and the number, or for the number only. */
static inline void fixture_init(struct fixture *f, bool by_service, uint32_t shown_max)
{
	static const struct row_member member = MEMBER("a", U64, 0, "derive-call");
	struct error error = { "" };
	struct labels labels = labels_none(sizeof(struct key), by_service ? 0 : NO_LABEL);

	*f = (struct fixture){ .now_s = 0 };
	map_count = 0;
	if (by_service)
		labels_add(&labels, label_of("service", 0, 4));
	labels_add(&labels, label_of("signal", 4, 4));
	snapshot_init(&f->services, 4, 0);
	show_service(f, SERVICE_OTHER, "other");
	show_service(f, SERVICE_KERNEL, "kernel");
	show_service(f, SERVICE_FIRST, "web");
	show_service(f, SERVICE_FIRST + 1, "db");
	row_table(&f->table, &member, 1, 8, KEYS, SUBJECT_KEY);
	row_table_keys(&f->table, &labels, &source, shown_max);
	CHECK_INT(keys_start(&f->table, &error), 0);
}

static inline void fixture_done(struct fixture *f)
{
	table_done(&f->table);
	snapshot_done(&f->services);
}

static inline void set(uint32_t service, uint32_t number, uint64_t count)
{
	size_t i = 0;

	while (i < map_count && (map[i].key.service != service || map[i].key.number != number))
		i++;
	map_count += i == map_count;
	map[i] = (struct given){ { service, number }, count };
}

static inline void read_after(struct fixture *f, uint64_t seconds)
{
	f->now_s += seconds;
	read_at(&f->table, &f->services.snapshot, S(f->now_s));
}

/* "SUBJECT/LABELS=TOTAL ..." for each dispatched series, in the order of their numbers. */
static inline const char *dispatched(const struct fixture *f)
{
	static char text[4096];

	text[0] = '\0';
	for (size_t i = 0; i < f->table.accumulators.count; i++) {
		size_t length = strlen(text);
		struct series_name name;

		if (!fed(&f->table, i))
			continue;
		row_kind_of(SUBJECT_KEY)->name(&f->table, &f->services.snapshot, "probe", i, &name);
		snprintf(text + length, sizeof(text) - length, "%s%s/%s=%ju", length ? " " : "",
			 name.subject, name.labels, (uintmax_t)total(&f->table, i, 0));
	}
	return text;
}

#endif
