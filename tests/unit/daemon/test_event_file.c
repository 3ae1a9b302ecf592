/* SPDX-License-Identifier: MIT */
/*
 * The file of events: its size, its mode, and what it refuses to write into.
 */
#include "tests/unit/testing.h"

#include "tests/unit/scratch_directory.h"

#include "plugin/daemon/event_file.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#define STRANGER 65534
#define LINE 1000 /* bytes */

static char path[512];

static void check(const char *lines, int want, const char *why)
{
	unsigned before = testing_open_files();
	struct error error = { "" };

	CHECK_INT(event_file_append(path, lines, strlen(lines), &error), want);
	CHECK_HAS(error.text, why);
	CHECK_UINT(testing_open_files(), before);
}

static void check_content(const char *name, const char *want)
{
	char *text = scratch_read(name);

	CHECK_TEXT(text, want);
	free(text);
}

static void test_append(void)
{
	struct stat made;

	CASE("made and appended to");
	check("", 0, "");
	check_content("ebpf/events.jsonl", "");
	check("a\n", 0, "");
	check("b\nc\n", 0, "");
	check_content("ebpf/events.jsonl", "a\nb\nc\n");
	CHECK_INT(stat(path, &made), 0);
	CHECK_UINT(made.st_mode & 07777, 0640);
	CHECK_INT(stat(scratch_path("ebpf"), &made), 0);
	CHECK_UINT(made.st_mode & 07777, 0750);
	CASE("moved away");
	CHECK_INT(rename(path, scratch_path("ebpf/moved")), 0);
	check("d\n", 0, "");
	check_content("ebpf/events.jsonl", "d\n");
}

/* Two files of EVENT_FILE_SIZE_MAX at most have the newest lines. */
static void test_rotation(void)
{
	char line[LINE + 1];
	struct stat now, before;

	CASE("rotation");
	memset(line, 'x', LINE - 1);
	line[LINE - 1] = '\n';
	line[LINE] = '\0';
	for (unsigned i = 0; i < 3 * EVENT_FILE_SIZE_MAX / LINE; i++)
		check(line, 0, "");
	CHECK_INT(stat(path, &now), 0);
	CHECK_INT(stat(scratch_path("ebpf/events.jsonl.1"), &before), 0);
	CHECK_UINT((size_t)before.st_size / LINE, EVENT_FILE_SIZE_MAX / LINE);
	CHECK_INT(now.st_size > 0 && now.st_size <= (off_t)EVENT_FILE_SIZE_MAX, true);
	CHECK_UINT(now.st_mode & 07777, 0640);
	CASE("no rotation");
	CHECK_INT(truncate(path, EVENT_FILE_SIZE_MAX), 0);
	unlink(scratch_path("ebpf/events.jsonl.1"));
	CHECK_INT(mkdir(scratch_path("ebpf/events.jsonl.1"), 0700), 0);
	check("e\n", -EISDIR,
	      "it is full and cannot become events.jsonl.1: Is a directory; remove that");
	rmdir(scratch_path("ebpf/events.jsonl.1"));
	unlink(path);
}

static void test_refused(void)
{
	CASE("a link");
	scratch_write("target", "");
	CHECK_INT(symlink(scratch_path("target"), path), 0);
	check("a\n", -EEXIST, "something else has this name; remove it");
	check_content("target", "");
	unlink(path);
	CASE("a second name");
	CHECK_INT(link(scratch_path("target"), path), 0);
	check("a\n", -EEXIST, "not a file of its own; remove it");
	check_content("target", "");
	unlink(path);
	CASE("a pipe");
	CHECK_INT(mkfifo(path, 0600), 0);
	check("a\n", -EEXIST, "remove it");
	unlink(path);
	CASE("a directory");
	CHECK_INT(mkdir(path, 0700), 0);
	check("a\n", -EEXIST, "something else has this name; remove it");
	rmdir(path);
	if (geteuid() != 0)
		return;
	CASE("of another user");
	scratch_write("ebpf/events.jsonl", "");
	CHECK_INT(chown(path, STRANGER, 0), 0);
	check("a\n", -EPERM, "it belongs to user 65534, who could change it; remove it");
	check_content("ebpf/events.jsonl", "");
	unlink(path);
	CASE("in a directory of another user");
	CHECK_INT(chown(scratch_path("ebpf"), STRANGER, 0), 0);
	check("a\n", -EPERM, "belongs to user 65534, who could replace what is in it");
	CHECK_INT(chown(scratch_path("ebpf"), 0, 0), 0);
}

/* Of lines for which there is no room, no part stays. */
static void test_full(void)
{
	struct rlimit before, limit;

	CASE("no room");
	check("abc\n", 0, "");
	signal(SIGXFSZ, SIG_IGN);
	CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 6;
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
	check("defg\n", -ENOSPC, "No space left");
	check_content("ebpf/events.jsonl", "abc\n");
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
	check("defg\n", 0, "");
	check_content("ebpf/events.jsonl", "abc\ndefg\n");
}

int main(void)
{
	scratch_begin();
	snprintf(path, sizeof(path), "%s", scratch_path("ebpf/events.jsonl"));
	test_append();
	test_rotation();
	test_refused();
	test_full();
	scratch_end();
	return testing_end();
}
