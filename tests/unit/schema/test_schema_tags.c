/* SPDX-License-Identifier: MIT */
/*
 * Where tags are in BTF: which belong to a map and which to its rows.
 */
#include "tests/unit/testing.h"

#include "plugin/daemon/dispatch.h"
#include "plugin/schema/schema.h"
#include "plugin/schema/schema_tags.h"

#include <errno.h>

struct btf_fixture {
	struct btf *btf;
	int u64, row, other, alias;
};

/* Two structs { u64 a; } and a typedef of a const of the first one. */
static struct btf_fixture make_fixture(void)
{
	struct btf_fixture f = { .btf = btf__new_empty() };

	f.u64 = btf__add_int(f.btf, "u64", 8, 0);
	f.row = btf__add_struct(f.btf, "row", 8);
	btf__add_field(f.btf, "a", f.u64, 0, 0);
	f.other = btf__add_struct(f.btf, "other", 8);
	btf__add_field(f.btf, "a", f.u64, 0, 0);
	f.alias = btf__add_typedef(f.btf, "row_t", btf__add_const(f.btf, f.row));
	return f;
}

/* Tags in positions that test_good and test_bad do not have. */
static void test_positions(void)
{
	static const struct {
		const char *name, *text;
		int member;
		bool on_other;
		const char *want; /* the error, NULL: none */
		size_t columns;
	} cases[] = {
		{ "another struct's", "metric:gauge", 0, true, NULL, 0 },
		{ "another struct's that is bad", "metric:nonsense", 0, true, NULL, 0 },
		{ "a tag of somebody else", "color:red", 0, false, NULL, 0 },
		{ "another's on the struct", "color:red", -1, false, NULL, 0 },
		{ "on the struct itself", "metric:gauge", -1, false, "not on a member", 0 },
		{ "on a member that is not there", "metric:gauge", 1, false, "not on a member", 0 },
		{ "on a member far away", "metric:gauge", 1 << 30, false, "not on a member", 0 },
		{ "on the member", "metric:gauge", 0, false, NULL, 1 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct btf_fixture f = make_fixture();
		struct error error = { "" };
		struct schema schema;
		int status;

		CASE("%s", cases[i].name);
		btf__add_decl_tag(f.btf, cases[i].text, cases[i].on_other ? f.other : f.row,
				  cases[i].member);
		status = schema_read(&schema, f.btf, "rows", (uint32_t)f.alias, dispatch_type,
				     &error);
		CHECK_INT(status < 0, cases[i].want != NULL);
		CHECK_HAS(error.text, cases[i].want ? cases[i].want : "");
		CHECK_UINT(schema.column_count, cases[i].columns);
		schema_done(&schema);
		btf__free(f.btf);
	}
}

/* Tags inside a member that is a struct do not belong to the row. */
static void test_nested(void)
{
	struct btf_fixture f = make_fixture();
	struct error error = { "" };
	struct schema schema;
	int outer;

	CASE("nested");
	btf__add_decl_tag(f.btf, "metric:gauge", f.row, 0);
	outer = btf__add_struct(f.btf, "outer", 16);
	btf__add_field(f.btf, "inner", f.row, 0, 0);
	btf__add_field(f.btf, "b", f.u64, 64, 0);
	btf__add_decl_tag(f.btf, "metric:derive", outer, 1);
	CHECK_INT(schema_read(&schema, f.btf, "rows", (uint32_t)outer, dispatch_type, &error), 0);
	CHECK_UINT(schema.column_count, 1);
	CHECK_TEXT(schema.columns[0].tag.type, "derive");
	schema_done(&schema);
	btf__free(f.btf);
}

/* Values that are no struct are no rows, whatever their tags. */
static void test_no_struct(void)
{
	struct btf_fixture f = make_fixture();
	int pointer = btf__add_ptr(f.btf, f.row), either = btf__add_union(f.btf, "either", 8);
	const int ids[] = { 0, f.u64, pointer, either, 9999, -1 };

	btf__add_field(f.btf, "a", f.u64, 0, 0);
	btf__add_decl_tag(f.btf, "metric:gauge", either, 0);
	for (size_t i = 0; i < COUNT_OF(ids); i++) {
		struct error error = { "" };
		struct schema schema;

		CASE("value type %d", ids[i]);
		CHECK_INT(schema_read(&schema, f.btf, "rows", (uint32_t)ids[i], dispatch_type,
				      &error),
			  0);
		CHECK_UINT(schema.column_count, 0);
		schema_done(&schema);
	}
	btf__free(f.btf);
}

static void test_subject(void)
{
	static const struct {
		const char *name, *text, *on;
		int status;
		enum subject_kind want;
	} cases[] = {
		{ "service", "subject:service", "rows", 0, SUBJECT_SERVICE },
		{ "probe", "subject:probe", "rows", 0, SUBJECT_PROBE },
		{ "process", "subject:process", "rows", 0, SUBJECT_PROCESS },
		{ "of another map", "subject:service", "other", -ENOENT, SUBJECT_NONE },
		{ "of another map, unknown", "subject:disk", "other", -ENOENT, SUBJECT_NONE },
		{ "of a type of its name", "subject:service", NULL, -ENOENT, SUBJECT_NONE },
		{ "of somebody else", "color:red", "rows", -ENOENT, SUBJECT_NONE },
		{ "unknown", "subject:disk", "rows", -EINVAL, SUBJECT_NONE },
		{ "empty", "subject:", "rows", -EINVAL, SUBJECT_NONE },
		{ "a word more", "subject:service x", "rows", -EINVAL, SUBJECT_NONE },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct btf_fixture f = make_fixture();
		struct subject_tag got = { .kind = SUBJECT_NONE };
		struct error error = { "" };
		int on = btf__add_struct(f.btf, "rows", 8);

		CASE("subject, %s", cases[i].name);
		if (cases[i].on)
			on = btf__add_var(f.btf, cases[i].on, BTF_VAR_GLOBAL_ALLOCATED, f.row);
		btf__add_decl_tag(f.btf, cases[i].text, on, -1);
		CHECK_INT(schema_subject(f.btf, "rows", &got, &error), cases[i].status);
		CHECK_INT(got.kind, cases[i].want);
		CHECK_HAS(error.text, cases[i].status ? "map rows: " : "");
		btf__free(f.btf);
	}
}

int main(void)
{
	test_positions();
	test_nested();
	test_no_struct();
	test_subject();
	return testing_end();
}
