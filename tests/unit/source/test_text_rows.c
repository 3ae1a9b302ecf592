/* SPDX-License-Identifier: MIT */
/*
 * Rows of text files: sums that grow while files appear, vanish and decrease, and rows by key.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/snapshot.h"
#include "tests/unit/fake/text_file.h"

#include "plugin/source/text_rows.h"

#define STRIDE 16

static const struct fields sums = {
	.field = { { .member = "n", .offset = 0, .size = 8 },
		   { .member = "g", .offset = 8, .size = 8, .is_gauge = true, .column = 1 } },
	.tag = { { .line = "n", .position = 1 }, { .line = "g", .position = 1 } },
	.count = 2,
	.row_size = STRIDE,
	.by_service = true,
};

/* The key: service, name, device; the row: n, g. */
static const struct fields keys = {
	.file = { .root = KERNEL_FS_CGROUP, .form = FORM_LINES },
	.field = { { .member = "n", .offset = 0, .size = 8 },
		   { .member = "g", .offset = 8, .size = 8, .is_gauge = true, .column = 1 },
		   { .of_key = true, .is_text = true, .offset = 4, .size = 4 },
		   { .of_key = true, .offset = 8, .size = 4 } },
	.tag = { { .word = "n" }, { .word = "g" }, { .position = 1 }, { .position = 2 } },
	.count = 4,
	.row_size = STRIDE,
	.by_service = true,
	.by_key = true,
	.key_size = 12,
};

struct key {
	uint32_t service;
	char name[4];
	uint32_t device;
	unsigned char file[8];
};

static bool read_text(struct text_rows *rows, struct text_file *file, const char *text)
{
	return text_rows_read(rows, file, text, strlen(text));
}

/* Appends "ROW:N,G " for each row, or "SERVICE/NAME/DEVICE/FILE:N,G " for one with a key. */
static int add_row(void *to, const struct source_row *row, struct error *error)
{
	const uint64_t *cell = (const uint64_t *)row->bytes.at;
	const struct key *key = row->key;
	char *got = to;
	size_t length = strlen(got);
	uint64_t file;

	if (row->is_base)
		return error_set(error, -7, "enough");
	if (row->bytes.stride == STRIDE + 8) { /* has a key */
		memcpy(&file, key->file, sizeof(file));
		length += (size_t)sprintf(got + length, "%u/%.4s/%u/%ju:", key->service, key->name,
					  key->device, (uintmax_t)file);
	} else {
		length += (size_t)sprintf(got + length, "%u:", *(const uint32_t *)row->key);
	}
	sprintf(got + length, "%ju,%ju ", (uintmax_t)cell[0], (uintmax_t)cell[1]);
	return 0;
}

static const char *given(const struct text_rows *rows)
{
	static char got[1024];
	struct error error = { "" };

	got[0] = '\0';
	CHECK_INT(text_rows_each(rows, add_row, got, &error), 0);
	return got;
}

static void begin(struct text_rows *rows)
{
	rows->has_begun = true;
	text_rows_begin(rows);
}

static void test_sums(bool begins_at_zero)
{
	struct text_file a = text_file_of(2, 0), b = text_file_of(2, 0), c = text_file_of(3, 0);
	uint64_t cells[5 * STRIDE / 8] = { 0 };
	struct fields fields = sums;
	struct text_rows rows;

	set_begins_at_zero(&a);
	set_begins_at_zero(&b);
	set_begins_at_zero(&c);
	set_new(&a, true);
	set_new(&c, true);
	fields.file.root = begins_at_zero ? KERNEL_FS_CGROUP : KERNEL_FS_PROC;
	CASE("sums%s", begins_at_zero ? " from zero" : "");
	CHECK_INT(text_rows_init(&rows, &fields, 5, STRIDE, cells), 0);
	text_rows_begin(&rows);
	CHECK_INT(read_text(&rows, &a, "n 100\ng 5\n"), 1);
	CHECK_TEXT(given(&rows), "2:0,5 ");
	CASE("growth; a gauge as it stands");
	set_new(&a, false);
	begin(&rows);
	CHECK_INT(read_text(&rows, &a, "n 130\ng 4\n"), 1);
	CHECK_TEXT(given(&rows), "2:30,4 ");
	CASE("another file of the row");
	begin(&rows);
	set_new(&b, true);
	CHECK_INT(read_text(&rows, &a, "n 131\ng 4\n") && read_text(&rows, &b, "n 50\ng 6\n"), 1);
	CHECK_TEXT(given(&rows), begins_at_zero ? "2:81,10 " : "2:31,10 ");
	set_new(&b, false);
	CASE("one falls, one lacks the counter, one comes");
	begin(&rows);
	CHECK_INT(read_text(&rows, &a, "n 1\n") && read_text(&rows, &b, "g 7\nn max\n") &&
			  read_text(&rows, &c, "n 5"),
		  1);
	CHECK_TEXT(given(&rows), begins_at_zero ? "2:81,7 3:5,0 " : "2:31,7 3:0,0 ");
	CASE("and they go on");
	begin(&rows);
	CHECK_INT(read_text(&rows, &a, "n 3\n") && read_text(&rows, &b, "n 52\n"), 1);
	CHECK_TEXT(given(&rows), begins_at_zero ? "2:85,0 " : "2:35,0 ");
	CHECK_INT(rows.found[0] && !rows.found[1] && rows.ever[1], 1);
	CASE("one is another");
	begin(&rows);
	set_new(&a, true);
	CHECK_INT(read_text(&rows, &a, "n 7\n"), 1);
	CHECK_TEXT(given(&rows), begins_at_zero ? "2:92,0 " : "2:35,0 ");
	CASE("nothing of use");
	begin(&rows);
	CHECK_INT(read_text(&rows, &b, "m 52\nn -1\nn\n"), 0);
	CHECK_INT(read_text(&rows, &b, ""), 0);
	CHECK_TEXT(given(&rows), "");
	text_file_done(&a);
	text_file_done(&b);
	text_file_done(&c);
	text_rows_done(&rows);
}

/* Several files of a service: of one row, or of replicas, which have a row each. */
static void test_several(bool single, bool replicas)
{
	struct text_file a = text_file_of(2, 0), b = text_file_of(replicas ? 4 : 2, 0),
			 c = text_file_of(3, 0);
	struct fake_snapshot s;
	uint64_t cells[5 * STRIDE / 8] = { 0 };
	struct fields fields = sums;
	struct text_rows rows;

	fields.file = (struct file_tag){ .root = KERNEL_FS_CGROUP,
					 .is_single = single,
					 .is_highest = !single };
	CHECK_INT(text_rows_init(&rows, &fields, 5, STRIDE, cells), 0);
	snapshot_init(&s, 5, 0);
	show_row(&s, 2, SUBJECT_CONTAINER, "web");
	show_row(&s, 3, SUBJECT_CONTAINER, "db");
	join_rows(&s, 4, 2);
	rows.snapshot = replicas ? &s.snapshot : NULL;
	for (unsigned i = 0; i < 2; i++) {
		CASE("%s%s, reading %u", single ? "single" : "highest",
		     replicas ? " of replicas" : "", i);
		begin(&rows);
		text_rows_count(&rows, &a);
		CHECK_INT(read_text(&rows, &a, i ? "n 130\ng 4\n" : "n 100\ng 5\n"), 1);
		text_rows_count(&rows, &b);
		CHECK_INT(read_text(&rows, &b, i ? "n 51\ng 9\n" : "n 11\ng 8\n"), 1);
		text_rows_count(&rows, &c);
		CHECK_INT(read_text(&rows, &c, i ? "n 7\ng 2\n" : "n 5\ng 1\n"), 1);
		if (single)
			CHECK_TEXT(given(&rows), i ? "3:7,2 " : "3:5,1 ");
		else
			CHECK_TEXT(given(&rows), i ? "2:140,9 3:7,2 " : "2:100,8 3:5,1 ");
	}
	CASE("of one file again");
	begin(&rows);
	text_rows_count(&rows, &a);
	CHECK_INT(read_text(&rows, &a, "n 131\ng 4\n"), 1);
	CHECK_TEXT(given(&rows), single ? "2:182,4 " : "2:141,4 ");
	text_file_done(&a);
	text_file_done(&b);
	text_file_done(&c);
	text_rows_done(&rows);
	snapshot_done(&s);
}

static void test_keys(void)
{
	struct text_file a = text_file_of(2, 7), b = text_file_of(3, 8);
	struct text_rows rows;

	CHECK_INT(text_rows_init(&rows, &keys, 3, STRIDE + 8, NULL), 0);
	text_rows_begin(&rows);
	CASE("rows, some of which add up");
	CHECK_INT(read_text(&rows, &a, "x 8:1 n=1 g=10\ny 8:2 n=2\nx 8:1 n=5 g=3\n"), 1);
	CHECK_TEXT(given(&rows), "2/x/8388609/7:6,13 2/y/8388610/7:2,0 ");
	CASE("of another file; names are cut");
	CHECK_INT(read_text(&rows, &b, "xyzab 1 n=1\n"), 1);
	CHECK_TEXT(given(&rows), "2/x/8388609/7:6,13 2/y/8388610/7:2,0 3/xyza/1/8:1,0 ");
	CHECK_INT(rows.is_full, 0);
	CASE("too many");
	CHECK_INT(read_text(&rows, &b, "xyzab 1 n=1\nz 1 n=1\n"), 1);
	CHECK_INT(rows.is_full, 1);
	CHECK_TEXT(given(&rows), "2/x/8388609/7:6,13 2/y/8388610/7:2,0 3/xyza/1/8:2,0 ");
	CASE("lines that are none");
	begin(&rows);
	CHECK_INT(rows.is_full, 0);
	CHECK_INT(read_text(&rows, &a, "x y n=1\nx 99999999999 n=1\nx 1 m=1\nx\n\nn=1\n"), 0);
	CHECK_TEXT(given(&rows), "");
	CASE("without the counter that was there before");
	CHECK_INT(read_text(&rows, &a, "x 1 g=1\ny 1 n=max g=2\nz 1 n=3 g=-1\n"), 1);
	CHECK_TEXT(given(&rows), "2/z/1/7:3,0 ");
	text_rows_done(&rows);
}

static void test_bases(void)
{
	struct text_file a = text_file_of(2, 7);
	struct fields fields = keys;
	struct error error = { "" };
	struct text_rows rows;
	char got[64] = "";

	CASE("what is there first was counted before, and a taker that has enough");
	fields.file.root = KERNEL_FS_PROC;
	CHECK_INT(text_rows_init(&rows, &fields, 3, STRIDE + 8, NULL), 0);
	text_rows_begin(&rows);
	CHECK_INT(read_text(&rows, &a, "x 1 n=1\n"), 1);
	CHECK_INT(text_rows_each(&rows, add_row, got, &error), -7);
	text_rows_done(&rows);
}

int main(void)
{
	test_sums(false);
	test_sums(true);
	for (int replicas = 0; replicas < 2; replicas++) {
		test_several(false, replicas);
		test_several(true, replicas);
	}
	test_keys();
	test_bases();
	return testing_end();
}
