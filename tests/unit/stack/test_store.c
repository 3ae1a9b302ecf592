/* SPDX-License-Identifier: MIT */
/*
 * Folded files on disk: they have all that was added, also after a restart, a full disk or the
 * removal of the directory; and they stay within their limits.
 */
#include "tests/unit/testing.h"

#include "tests/unit/scratch_directory.h"

#include "plugin/config/config.h"
#include "plugin/stack/folded_file.h"
#include "plugin/stack/store.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#define T 1795525200 /* 2026-11-24 13:00:00 UTC */
#define HOUR 3600
#define WEB "p/web-cpu-20261124-13.folded"

static struct store *open_at(const char *name, unsigned hours, unsigned mib)
{
	struct profiles_config config = { .directory = (char *)scratch_path(name),
					  .keep_hours = hours,
					  .keep_mib = mib };
	struct store *store = NULL;
	struct error error;

	CHECK_INT(store_open(&store, &config, &error), 0);
	if (!store)
		abort();
	return store;
}

static void add(struct store *store, const char *service, time_t when, const char *stack,
		uint64_t value)
{
	CHECK_INT(store_add(store, service, "cpu", when, stack, value), 0);
}

static void check_write(struct store *store, time_t now, int want, const char *why)
{
	struct error error = { "" };

	CHECK_INT(store_write(store, now, &error), want);
	CHECK_HAS(error.text, why);
}

static void check_file(const char *name, const char *want)
{
	char *got = scratch_read(name);

	if (strlen(got) > strlen(want))
		got[strlen(want) + 20 < strlen(got) ? strlen(want) + 20 : strlen(got)] = '\0';
	CHECK_TEXT(got, want);
	free(got);
}

static unsigned count_files(const char *name)
{
	DIR *directory = opendir(scratch_path(name));
	unsigned count = 0;

	while (directory && readdir(directory))
		count++;
	if (directory)
		closedir(directory);
	return count - 2;
}

static void test_adding(void)
{
	struct store *store = open_at("p", 24, 64);
	struct stat file;

	CASE("files");
	add(store, "web", T, "main;parse", 20);
	add(store, "web", T + HOUR - 1, "main;parse", 1);
	add(store, "web", T + HOUR, "main;parse", 300);
	add(store, "a/b c-cpu", T, "[other]", 1);
	add(store, "none", T, "main", 0);
	CHECK_INT(store_add(store, "web", "waits", T, "main", 4), 0);
	CHECK_INT(store_add(store, "web", "off-cpu", T, "main", 4), -EINVAL);
	CHECK_INT(store_add(store, "web", "", T, "main", 4), -EINVAL);
	check_write(store, T, 0, "");
	check_file(WEB, "main;parse 21\n");
	check_file("p/web-cpu-20261124-14.folded", "main;parse 300\n");
	check_file("p/web-waits-20261124-13.folded", "main 4\n");
	check_file("p/a_b_c-cpu-cpu-20261124-13.folded", "[other] 1\n");
	CHECK_UINT(count_files("p"), 4);
	CHECK_INT(stat(scratch_path(WEB), &file), 0);
	CHECK_UINT(file.st_mode & 0777, 0640);

	CASE("again");
	add(store, "web", T, "main;write", 30);
	add(store, "web", T, "main;parse", 2);
	check_write(store, T + 60, 0, "");
	check_write(store, T + 120, 0, "");
	check_file(WEB, "main;write 30\nmain;parse 23\n");
	store_free(store);

	CASE("after a restart, with lines that are none");
	scratch_write(WEB, "main;parse 23\nnonsense\n\n 5\nmain;write 30\n[other] 4\ncut of");
	store = open_at("p", 24, 64);
	add(store, "web", T, "main;parse", 100);
	check_write(store, T + 180, 0, "");
	check_file(WEB, "main;parse 123\nmain;write 30\n[other] 4\n");
	store_free(store);
	store_free(NULL);
}

/* The files that exist are the state at a restart. */
static void test_state(void)
{
	struct store *store = open_at("s", 24, 64);
	static const char db[] = "s/db-opened-20261124-13.folded",
			  web[] = "s/web-opened-20261124-13.folded";

	CASE("a state");
	scratch_write("s/web-opened-20261124-12.folded", "main;accept 1\n");
	scratch_write("s/web-opened-20261124-13.folded", "main;accept 9\n");
	scratch_write("s/old-opened-20261124-13.folded", "main;accept 9\n");
	scratch_write("s/old-cpu-20261124-13.folded", "main 9\n");
	store_begin(store, "opened", T);
	CHECK_INT(store_add(store, "web", "opened", T, "main;accept", 3), 0);
	CHECK_INT(store_add(store, "db", "opened", T, "main;connect", 4), 0);
	check_write(store, T, 0, "");
	check_file(web, "main;accept 3\n");
	check_file(db, "main;connect 4\n");
	check_file("s/web-opened-20261124-12.folded", "main;accept 1\n");
	check_file("s/old-opened-20261124-13.folded", "(none)");
	check_file("s/old-cpu-20261124-13.folded", "main 9\n");

	CASE("another one");
	store_begin(store, "opened", T + 60);
	CHECK_INT(store_add(store, "web", "opened", T + 60, "main;accept", 7), 0);
	CHECK_INT(store_add(store, "db", "opened", T + 60, "main;connect", 7), 0);
	store_begin(store, "opened", T + 120);
	CHECK_INT(store_add(store, "web", "opened", T + 120, "main;accept", 1), 0);
	CHECK_INT(store_add(store, "web", "opened", T + 120, "main;accept", 1), 0);
	check_write(store, T + 120, 0, "");
	check_file(web, "main;accept 2\n");
	check_file(db, "(none)");
	store_free(store);
}

static void test_foreign(void)
{
	static const char *const names[] = { "s/README", "s/web-20200101-00.folded",
					     "s/web-cpu-20200101-00.svg",
					     "s/web-CPU-20200101-00.folded" };
	static char large[4 << 20];
	struct store *store;

	CASE("files of others stay, and do not count");
	memset(large, 'x', sizeof(large) - 1);
	for (size_t i = 0; i < COUNT_OF(names); i++)
		scratch_write(names[i], large);
	CHECK_INT(mkdir(scratch_path("s/dir-cpu-20200101-00.folded"), 0700), 0);
	CHECK_INT(mkdir(scratch_path("s/dir-cpu-20261124-13.folded"), 0700), 0);
	CHECK_INT(symlink("README", scratch_path("s/link-cpu-20261124-13.folded")), 0);
	CHECK_INT(mkfifo(scratch_path("s/fifo-cpu-20261124-13.folded"), 0600), 0);
	scratch_write("s/late-cpu-20200101-00.folded", "main 1\n");
	store = open_at("s", 24, 1);
	add(store, "dir", T, "main", 1);
	check_write(store, T, -EINVAL,
		    "s/dir-cpu-20261124-13.folded: Invalid argument: it is not a regular "
		    "file; move it away");
	store_free(store);
	store = open_at("s", 24, 1);
	add(store, "link", T, "main", 1);
	check_write(store, T, -ELOOP, "link-cpu-20261124-13.folded");
	store_free(store);
	store = open_at("s", 24, 1);
	add(store, "fifo", T, "main", 1);
	add(store, "web", T, "main", 1);
	check_write(store, T, -EINVAL, "fifo-cpu-20261124-13.folded");
	check_file("s/web-cpu-20261124-13.folded", "main 1\n");
	check_file("s/late-cpu-20200101-00.folded", "(none)");
	for (size_t i = 0; i < COUNT_OF(names); i++)
		check_file(names[i], large);
	CASE("the way is free again");
	CHECK_INT(unlink(scratch_path("s/fifo-cpu-20261124-13.folded")), 0);
	check_write(store, T + 60, 0, "");
	check_file("s/fifo-cpu-20261124-13.folded", "main 1\n");
	store_free(store);
}

static void fill(struct store *store, const char *service, time_t when, unsigned count)
{
	char stack[600];

	for (unsigned i = 0; i < count; i++) {
		snprintf(stack, sizeof(stack), "main;%0500u", i);
		add(store, service, when, stack, 1);
	}
}

static void test_limits(void)
{
	struct store *store = open_at("k", 3, 1);

	CASE("hours");
	for (int i = 0; i < 6; i++)
		add(store, "web", T + i * HOUR, "main", 1);
	check_write(store, T + 5 * HOUR, 0, "");
	CHECK_UINT(count_files("k"), 4);
	check_file("k/web-cpu-20261124-14.folded", "(none)");
	check_file("k/web-cpu-20261124-15.folded", "main 1\n");

	CASE("size: the oldest go first, of an hour the largest");
	fill(store, "early", T + 3 * HOUR, 600);
	fill(store, "first", T + 4 * HOUR, 700);
	check_write(store, T + 5 * HOUR, 0, "");
	fill(store, "large", T + 5 * HOUR, 1300);
	check_write(store, T + 5 * HOUR, 0, "");
	check_file("k/early-cpu-20261124-16.folded", "(none)");
	check_file("k/first-cpu-20261124-17.folded", "(none)");
	check_file("k/web-cpu-20261124-17.folded", "main 1\n");
	check_file("k/web-cpu-20261124-18.folded", "main 1\n");

	CASE("an hour that is larger than all may be");
	fill(store, "huge", T + 5 * HOUR, 2200);
	check_write(store, T + 5 * HOUR, -ENOSPC,
		    "k: removing files of this hour, as they take "
		    "more than KeepMiB 1 of <Profiles>");
	check_file("k/web-cpu-20261124-18.folded", "main 1\n");
	check_file("k/huge-cpu-20261124-18.folded", "(none)");
	check_write(store, T + 5 * HOUR, 0, "");
	store_free(store);
}

static uint64_t sum_of(const char *name, unsigned *ret_lines)
{
	char *text = scratch_read(name), *line = text;
	uint64_t sum = 0;

	*ret_lines = 0;
	for (char *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		sum += strtoull(strrchr(line, ' ') + 1, NULL, 10);
		++*ret_lines;
	}
	free(text);
	return sum;
}

static void test_file_bounds(void)
{
	struct store *store = open_at("b", 24, 64);
	struct stat file;
	unsigned lines;
	char stack[64];

	CASE("lines of a file");
	add(store, "web", T, "main;hot", 1000);
	for (unsigned i = 0; i < 50000; i++) {
		snprintf(stack, sizeof(stack), "main;%u", i);
		add(store, "web", T, stack, 1);
	}
	check_write(store, T, 0, "");
	CHECK_UINT(sum_of("b/web-cpu-20261124-13.folded", &lines), 51000);
	CHECK_UINT(lines, FOLDED_LINES_MAX);

	CASE("bytes of a file");
	fill(store, "large", T, 19000);
	add(store, "large", T, "main;hot", 1000);
	check_write(store, T, 0, "");
	CHECK_INT(stat(scratch_path("b/large-cpu-20261124-13.folded"), &file), 0);
	CHECK_UINT(file.st_size <= FOLDED_BYTES_MAX, 1);
	CHECK_UINT(file.st_size > FOLDED_BYTES_MAX - FOLDED_BYTES_MAX / 16, 1);
	CHECK_UINT(sum_of("b/large-cpu-20261124-13.folded", &lines), 20000);
	store_free(store);
}

/* What cannot be written stays in memory, within limits. */
static void test_memory_bounds(void)
{
	struct store *store = open_at("m", 24, 1024);
	char service[64];
	unsigned lines;

	CASE("a service with many stacks");
	add(store, "small", T, "main;rare", 1);
	for (unsigned i = 0; i < 12; i++) {
		snprintf(service, sizeof(service), "large%u", i);
		fill(store, service, T, 15000);
	}
	check_write(store, T, 0, "");
	check_file("m/small-cpu-20261124-13.folded", "main;rare 1\n");
	for (unsigned i = 0; i < 12; i++) {
		snprintf(service, sizeof(service), "m/large%u-cpu-20261124-13.folded", i);
		CHECK_UINT(sum_of(service, &lines), 15000);
	}

	CASE("many files");
	for (unsigned i = 0; i < 5000; i++) {
		snprintf(service, sizeof(service), "s%u", i);
		add(store, service, T + (i >= 1000) * HOUR, "main", 1);
	}
	check_write(store, T + HOUR, 0, "");
	check_file("m/s902-cpu-20261124-13.folded", "(none)");
	check_file("m/s999-cpu-20261124-13.folded", "main 1\n");
	check_file("m/s1000-cpu-20261124-14.folded", "main 1\n");
	check_file("m/s4999-cpu-20261124-14.folded", "main 1\n");
	store_free(store);
}

static void test_directory_removed(void)
{
	struct store *store = open_at("g", 24, 64);

	CASE("removed directory");
	CHECK_INT(rmdir(scratch_path("g")), 0);
	add(store, "web", T, "main", 1);
	check_write(store, T, 0, "");
	check_file("g/web-cpu-20261124-13.folded", "main 1\n");

	CASE("a file of its name, then the directory again");
	CHECK_INT(rename(scratch_path("g"), scratch_path("away")), 0);
	scratch_write("g", "");
	add(store, "web", T, "main", 1);
	check_write(store, T, -ENOTDIR, "g: Not a directory");
	add(store, "web", T, "main", 1);
	check_write(store, T + 60, -ENOTDIR, "g: Not a directory");
	CHECK_INT(unlink(scratch_path("g")), 0);
	CHECK_INT(rename(scratch_path("away"), scratch_path("g")), 0);
	check_write(store, T + 120, 0, "");
	check_file("g/web-cpu-20261124-13.folded", "main 3\n");

	CASE("others can write to it");
	CHECK_INT(chmod(scratch_path("g"), 0777), 0);
	add(store, "web", T, "main", 1);
	check_write(store, T, -EPERM, "users other than its owner can write to");
	CHECK_INT(chmod(scratch_path("g"), 0750), 0);
	check_write(store, T, 0, "");
	check_file("g/web-cpu-20261124-13.folded", "main 4\n");

	CASE("values that wait for longer than files exist");
	CHECK_INT(chmod(scratch_path("g"), 0777), 0);
	add(store, "old", T, "main", 1);
	check_write(store, T + 25 * HOUR, -EPERM, "");
	CHECK_INT(chmod(scratch_path("g"), 0750), 0);
	check_write(store, T, 0, "");
	check_file("g/old-cpu-20261124-13.folded", "(none)");
	store_free(store);
}

/* A limit on file sizes acts like a full disk; it needs no mount. */
static void test_short_write(void)
{
	struct rlimit before, small = { .rlim_cur = 4096 };
	struct store *store = open_at("w", 24, 64);
	unsigned lines;

	CASE("a file that can be written in part");
	add(store, "web", T, "main", 7);
	check_write(store, T, 0, "");
	fill(store, "web", T, 100);
	signal(SIGXFSZ, SIG_IGN);
	CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
	small.rlim_max = before.rlim_max;
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &small), 0);
	check_write(store, T, -EFBIG, "cannot write ");
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
	check_file("w/web-cpu-20261124-13.folded", "main 7\n");
	CHECK_UINT(count_files("w"), 1);
	check_write(store, T, 0, "");
	CHECK_UINT(sum_of("w/web-cpu-20261124-13.folded", &lines), 107);
	store_free(store);
}

static bool mount_small(const char *path)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && mkdir(path, 0750) == 0 &&
	       mount("tmpfs", path, "tmpfs", 0, "size=64k,mode=0750") == 0;
}

static void test_full(void)
{
	struct store *store;
	unsigned lines;
	char path[512];

	CASE("a full disk");
	snprintf(path, sizeof(path), "%s", scratch_path("full"));
	if (!mount_small(path)) {
		printf("no mount: nothing is full\n");
		return;
	}
	store = open_at("full", 24, 64);
	add(store, "web", T, "main", 7);
	check_write(store, T, 0, "");
	fill(store, "web", T, 200);
	add(store, "small", T, "main", 1);
	for (int i = 0; i < 3; i++)
		check_write(store, T + 60, -ENOSPC, "No space left on device; free some space on");
	check_file("full/web-cpu-20261124-13.folded", "main 7\n");
	CHECK_INT(mount("none", path, NULL, MS_REMOUNT, "size=1m"), 0);
	check_write(store, T + 120, 0, "");
	CHECK_UINT(sum_of("full/web-cpu-20261124-13.folded", &lines), 207);
	check_file("full/small-cpu-20261124-13.folded", "main 1\n");

	CASE("a disk that is read only");
	CHECK_INT(mount("none", path, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	add(store, "small", T, "main", 1);
	check_write(store, T + 180, -EROFS,
		    "Read-only file system; have that file system writable");
	CHECK_INT(mount("none", path, NULL, MS_REMOUNT, NULL), 0);
	check_write(store, T + 240, 0, "");
	check_file("full/small-cpu-20261124-13.folded", "main 2\n");
	store_free(store);
	CHECK_INT(umount2(path, MNT_DETACH), 0);
}

static void test_refused(void)
{
	struct profiles_config config = { .directory = (char *)scratch_path("none/deep"),
					  .keep_hours = 1,
					  .keep_mib = 1 };
	struct store *store = NULL;
	struct error error;

	CASE("no directory");
	CHECK_INT(store_open(&store, &config, &error), -ENOENT);
	CHECK_HAS(error.text, "none: No such file or directory");
	CHECK_INT(store == NULL, 1);
}

int main(void)
{
	unsigned before;

	umask(022);
	setenv("TZ", "UTC", 1);
	scratch_begin();
	before = testing_open_files();
	test_adding();
	test_state();
	test_foreign();
	test_limits();
	test_file_bounds();
	test_memory_bounds();
	test_directory_removed();
	test_short_write();
	test_full();
	test_refused();
	CASE("descriptors");
	CHECK_UINT(testing_open_files(), before);
	scratch_end();
	return testing_end();
}
