/* SPDX-License-Identifier: MIT */
/*
 * Stack records, also with arbitrary bytes, as lines of folded files.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/names.h"
#include "tests/unit/scratch_directory.h"

#include "bpf/lib/stack.h"
#include "plugin/config/config.h"
#include "plugin/helper/ksym.h"
#include "plugin/stack/collector.h"

#define T 1795525200 /* 2026-11-24 13:00:00 UTC */

static struct file_helper files = FILE_HELPER_NONE;
static int cpu, opened;

static struct ksyms ksyms = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct collector *begin(void)
{
	static char kallsyms[] = "ffffffff81000000 T entry\nffffffff81000100 T leaf\n";
	struct profiles_config config = { .directory = (char *)scratch_path("p"),
					  .keep_hours = 24,
					  .keep_mib = 64 };
	struct view of_cpu = { .name = "cpu", .unit = "samples" };
	struct view of_opened = { .name = "opened", .unit = "connections", .is_state = true };
	struct collector *collector = NULL;
	struct error error;
	char text[sizeof(kallsyms)];

	CHECK_INT(collector_open(&collector, &config, &files, &ksyms, &error), 0);
	if (!collector)
		abort();
	memcpy(text, kallsyms, sizeof(text));
	CHECK_INT(ksyms_parse(&ksyms, text), 0);
	cpu = collector_view(collector, &of_cpu);
	opened = collector_view(collector, &of_opened);
	return collector;
}

static void write_all(struct collector *collector)
{
	struct error error = { "" };

	CHECK_INT(collector_write(collector, T, NULL, NULL, &error), 0);
	CHECK_TEXT(error.text, "");
	CHECK_INT(collector_since(collector), 0);
}

static void check_file(const char *name, const char *want)
{
	char *got = scratch_read(name);

	CHECK_TEXT(got ? got : "", want);
	free(got);
}

struct record {
	struct stack_head head;
	uint64_t kernel[2];
	struct stack_frame user[1];
};

static void test_frames(void)
{
	struct record record = {
		.head = { .value = 2,
			  .kernel_count = 2,
			  .user_count = 1,
			  .comm = "a;b c",
			  .syscall = 1 },
		/* A call that is the last instruction of its function: its return address is in
		 * the next one. */
		.kernel = { 0xffffffff81000100, 0xffffffff81000100 },
		.user = { { .status = STACK_ADDRESS, .location = 5 } },
	};
	struct collector *collector = begin();
	size_t size = sizeof(record);

	CASE("frames");
	CHECK_INT(collector_add(collector, cpu, "web", &record, size, T), 0);
	CHECK_INT(collector_since(collector), T);
	CHECK_INT(collector_add(collector, cpu, "web", &record, size, T + 1), 0);
	CHECK_INT(collector_add(collector, cpu, "db", &record, size, T + 1), 0);
	record.head.user_count = 0;
	CHECK_INT(collector_add(collector, cpu, "web", &record, size - sizeof(record.user), T), 0);
	write_all(collector);
	check_file("p/web-cpu-20261124-13.folded",
		   "a_b_c;[unknown];entry_[k];leaf_[k] 4\na_b_c;[read];entry_[k];leaf_[k] 2\n");
	check_file("p/db-cpu-20261124-13.folded", "a_b_c;[unknown];entry_[k];leaf_[k] 2\n");
	collector_free(collector);
}

static void add_text(struct collector *collector, int view, uint64_t value, const char *text,
		     size_t length)
{
	char bytes[sizeof(struct stack_head) + 64];
	struct stack_head head = { .value = value };

	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), text, length);
	CHECK_INT(collector_add(collector, view, "files", bytes, sizeof(head) + length, T), 0);
}

static void test_texts(void)
{
	struct collector *collector = begin();

	CASE("texts");
	add_text(collector, cpu, 3, "[read]\0log\0var\0", 15);
	add_text(collector, cpu, 4, "[read]\0log\0var\0", 15);
	write_all(collector);
	check_file("p/files-cpu-20261124-13.folded", "var;log;[read] 7\n");
	CASE("a state");
	add_text(collector, opened, 9, "old\0", 4);
	add_text(collector, opened, 0, "", 0);
	CASE("a state stays until something of the next is there");
	write_all(collector);
	check_file("p/files-opened-20261124-13.folded", "old 9\n");
	add_text(collector, opened, 5, "new\0", 4);
	add_text(collector, opened, 0, "", 0);
	add_text(collector, opened, 6, "newest\0", 7);
	write_all(collector);
	check_file("p/files-opened-20261124-13.folded", "newest 6\n");
	CASE("an empty state");
	add_text(collector, opened, 0, "", 0);
	add_text(collector, opened, 0, "", 0);
	write_all(collector);
	check_file("p/files-opened-20261124-13.folded", "(none)");
	collector_free(collector);
}

static void test_hostile(void)
{
	struct record record = { .head = { .value = 1, .kernel_count = 2, .user_count = 1 } };
	struct collector *collector = begin();

	CASE("too short");
	for (size_t size = 0; size < sizeof(record); size++)
		CHECK_INT(collector_add(collector, cpu, "web", &record, size, T), -EINVAL);
	CASE("more frames than there may be");
	record.head.kernel_count = STACK_KERNEL_MAX + 1;
	CHECK_INT(collector_add(collector, cpu, "web", &record, 1 << 20, T), -EINVAL);
	record.head.kernel_count = 0;
	record.head.user_count = UINT16_MAX;
	CHECK_INT(collector_add(collector, cpu, "web", &record, 1 << 20, T), -EINVAL);
	CHECK_INT(collector_since(collector), 0);
	collector_free(collector);
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	scratch_begin();
	test_frames();
	test_texts();
	test_hostile();
	scratch_end();
	ksyms_done(&ksyms);
	file_helper_done(&files);
	return testing_end();
}
