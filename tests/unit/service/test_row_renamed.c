/* SPDX-License-Identifier: MIT */
/*
 * Names of rows: containers that are renamed leave their subjects for those of their new names. The kernel's side
 * is played.
 */
#include "tests/unit/fake/named_rows.h"

static void rename_container(struct fixture *f, uint32_t row, const char *id, const char *name)
{
	char other_name[SUBJECT_NAME_MAX];

	snprintf(other_name, sizeof(other_name), "%s-%.12s", name, id);
	give_name(f, row, name, other_name);
}

/* Two containers with series, web-1 in this row and web-new in the other one. */
static void start_two(struct fixture *f, uint32_t web)
{
	fixture_init(f);
	subscribers_add(&f->services.lifecycle.subscribers, INTERVAL_S, NULL, NULL);
	claim_container(f, web, ID_A, "web-1");
	claim_container(f, 7 - web, ID_B, "web-new");
	refresh(f, 100);
	refresh(f, 110);
	CHECK_TEXT(subject(f, web), "web-1");
	CHECK_TEXT(subject(f, 7 - web), "web-new");
}

static void complete(struct fixture *f, double now_s)
{
	row_names_complete(&f->services.lifecycle);
	refresh(f, now_s);
}

static void test_renamed(void)
{
	uint64_t generation;
	struct fixture f;

	CASE("renamed");
	start_two(&f, 3);
	rename_container(&f, 3, ID_A, "web-2");
	CASE("renamed, before all are named");
	refresh(&f, 120);
	CHECK_TEXT(subject(&f, 3), "web-1");
	CASE("renamed, at once");
	complete(&f, 121);
	CHECK_TEXT(subject(&f, 3), "web-2");
	CHECK_TEXT(subject(&f, 4), "web-new");
	CASE("back, while its series exist");
	generation = generation_of(&f, 3);
	rename_container(&f, 3, ID_A, "web-1");
	complete(&f, 122);
	CHECK_TEXT(subject(&f, 3), "web-1");
	CHECK_INT(generation_of(&f, 3) < generation, true);
	fixture_done(&f);
	CASE("no new name is left");
	start_two(&f, 3);
	allow_names(&f, 1, 0);
	rename_container(&f, 3, ID_A, "web-2");
	complete(&f, 121);
	CHECK_TEXT(subject(&f, 3), "other");
	CHECK_UINT(f.services.snapshot->names_refused, 1);
	rename_container(&f, 3, ID_A, "web-1");
	complete(&f, 122);
	CHECK_TEXT(subject(&f, 3), "web-1");
	fixture_done(&f);
	CASE("its processes have ended");
	start_two(&f, 3);
	end(&f, 3);
	rename_container(&f, 3, ID_A, "web-2");
	complete(&f, 121);
	CHECK_INT(state(&f, 3), ROW_RETIRED);
	fixture_done(&f);
}

/* web-1 makes way for web-new, whichever has the first row. */
static void test_swapped(void)
{
	for (uint32_t web = 3; web <= 4; web++) {
		uint64_t generation;
		struct fixture f;

		CASE("swapped, web was in row %u", web);
		start_two(&f, web);
		generation = generation_of(&f, web);
		rename_container(&f, web, ID_A, "web-old");
		rename_container(&f, 7 - web, ID_B, "web-1");
		complete(&f, 120);
		CHECK_TEXT(subject(&f, web), "web-old");
		CHECK_TEXT(subject(&f, 7 - web), "web-1");
		CHECK_UINT(generation_of(&f, 7 - web), generation);
		fixture_done(&f);
		CASE("web was in row %u, and is known to be renamed a little later", web);
		start_two(&f, web);
		rename_container(&f, 7 - web, ID_B, "web-1");
		complete(&f, 120);
		CHECK_TEXT(subject(&f, web), "web-1");
		CHECK_TEXT(subject(&f, 7 - web), "web-1-bbbbbbbbbbbb");
		rename_container(&f, web, ID_A, "web-old");
		complete(&f, 121);
		CHECK_TEXT(subject(&f, web), "web-old");
		CHECK_TEXT(subject(&f, 7 - web), "web-1");
		fixture_done(&f);
	}
}

static void test_renamed_to_block(void)
{
	struct row_name name = {
		.name = "web-9", .is_settled = true, .is_nameless = true, .service = CONFIGURED
	};
	uint64_t generation;
	struct fixture f;

	CASE("renamed to a name of a block");
	start_two(&f, 3);
	generation = generation_of(&f, CONFIGURED);
	name.key = key_of_row(&f, 3);
	row_name_set(&f.services.lifecycle, 3, &name);
	complete(&f, 120);
	CHECK_TEXT(subject(&f, 3), "web");
	CASE("and away from it");
	rename_container(&f, 3, ID_A, "web-1");
	complete(&f, 121);
	refresh(&f, 131);
	CHECK_TEXT(subject(&f, 3), "web-1");
	CHECK_TEXT(subject(&f, CONFIGURED), "web");
	CHECK_UINT(generation_of(&f, CONFIGURED), generation);
	fixture_done(&f);
}

int main(void)
{
	test_renamed();
	test_swapped();
	test_renamed_to_block();
	return testing_end();
}
