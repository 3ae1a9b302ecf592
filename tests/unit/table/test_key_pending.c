/* SPDX-License-Identifier: MIT */
/*
 * Keys whose names are not known yet: their growth waits.
 */
#include "tests/unit/fake/keys.h"

/* The names of cgroups 0 to 9: NULL: pending, empty: it has none. */
static const char *cgroup_names[10];

static void want_names(void *tables, enum label_table table)
{
	CHECK_INT(tables == NULL, 1);
	CHECK_INT(table, LABEL_TABLE_CGROUPS);
}

static enum name_state find_name(void *tables, enum label_table table, uint64_t value, char *to,
				 size_t size)
{
	want_names(tables, table);
	if (!cgroup_names[value])
		return NAME_PENDING;
	snprintf(to, size, "%s", cgroup_names[value]);
	return to[0] ? NAME_FOUND : NAME_NONE;
}

static uint64_t generation;

static uint64_t names_generation(void *tables, enum label_table table)
{
	want_names(tables, table);
	return generation;
}

/* A service and a cgroup; the names of all cgroups are pending. */
static void fixture_init_cgroups(struct fixture *f)
{
	static const struct label_names names = {
		.want = want_names,
		.find = find_name,
		.generation = names_generation,
	};
	struct labels labels = labels_none(sizeof(struct key), 0);

	fixture_init(f, true, 8);
	labels_add(&labels, label_of("service", 0, 4));
	labels_add(&labels, label_of("cgroup", 4, 4));
	labels_use_names(&labels, &names);
	row_table_labels(&f->table, &labels);
	memset(cgroup_names, 0, sizeof(cgroup_names));
}

/* The growth of a key waits for its name, and then counts under it alone. */
static void test_pending(void)
{
	struct fixture f;

	CASE("pending");
	fixture_init_cgroups(&f);
	cgroup_names[2] = "db";
	set(SERVICE_FIRST, 1, 5);
	set(SERVICE_FIRST, 2, 3);
	set(SERVICE_FIRST, 3, 1);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "web/db=3");
	CHECK_UINT(f.table.keys.name_count, 1);
	CASE("for another reading");
	set(SERVICE_FIRST, 1, 9);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "web/db=3");
	CASE("named, or known to have no name");
	cgroup_names[1] = "www";
	cgroup_names[3] = "";
	set(SERVICE_FIRST, 1, 10);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "web/db=3 web/www=10 web/cgroup_3=1");
	CASE("a key that has its name does not wait for it again");
	cgroup_names[1] = NULL;
	set(SERVICE_FIRST, 1, 12);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "web/db=3 web/www=12 web/cgroup_3=1");
	CASE("its row is another service's");
	show_service(&f, SERVICE_FIRST, "mail");
	set(SERVICE_FIRST, 1, 14);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "web/db=3 web/www=12 web/cgroup_3=1 mail/db=0 mail/cgroup_3=0");
	cgroup_names[1] = "www";
	read_after(&f, 1);
	CHECK_HAS(dispatched(&f), "mail/www=2");
	fixture_done(&f);
}

/* Label lines choose by a name once it is found. */
static void test_pending_choice(void)
{
	const struct strings names = STRINGS("w*"), services = STRINGS("db");
	struct fixture f;

	CASE("a choice by the pending name");
	fixture_init_cgroups(&f);
	row_table_choose(&f.table, 1, &names);
	set(SERVICE_FIRST, 1, 5);
	set(SERVICE_FIRST, 2, 3);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "");
	cgroup_names[1] = "www";
	cgroup_names[2] = "db";
	set(SERVICE_FIRST, 1, 6);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "web/www=6");
	fixture_done(&f);

	CASE("by another name");
	fixture_init_cgroups(&f);
	row_table_choose(&f.table, 0, &services);
	set(SERVICE_FIRST, 1, 5);
	set(SERVICE_FIRST + 1, 1, 3);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "");
	cgroup_names[1] = "www";
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "db/www=3");
	fixture_done(&f);
}

/* A key whose name changes counts under the new one from then on. */
static void test_renamed(void)
{
	const struct strings names = STRINGS("w*");
	struct fixture f;

	CASE("renamed");
	fixture_init_cgroups(&f);
	cgroup_names[1] = "www";
	cgroup_names[2] = "db";
	set(SERVICE_FIRST, 1, 5);
	set(SERVICE_FIRST, 2, 1);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "web/www=5 web/db=1");
	cgroup_names[1] = "mail";
	set(SERVICE_FIRST, 1, 7);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "web/www=7 web/db=1");
	generation++;
	set(SERVICE_FIRST, 1, 10);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "web/www=7 web/db=1 web/mail=3");
	CASE("the former name ends");
	for (int i = 0; i < 11; i++)
		read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "web/db=1 web/mail=3");
	fixture_done(&f);

	CASE("renamed, so that Label chooses it");
	fixture_init_cgroups(&f);
	row_table_choose(&f.table, 1, &names);
	cgroup_names[1] = "db";
	set(SERVICE_FIRST, 1, 5);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "");
	cgroup_names[1] = "www";
	generation++;
	set(SERVICE_FIRST, 1, 6);
	read_after(&f, 1);
	CHECK_TEXT(dispatched(&f), "web/www=1");
	fixture_done(&f);
}

int main(void)
{
	test_renamed();
	test_pending();
	test_pending_choice();
	return testing_end();
}
