/* SPDX-License-Identifier: MIT */
/*
 * Directories that only their owner can change.
 */
#include "tests/unit/testing.h"

#include "tests/unit/scratch_directory.h"

#include "plugin/stack/safe_directory.h"

#include <errno.h>

#define STRANGER 65534

static void check(const char *path, int want, const char *why)
{
	struct error error = { "" };
	int fd = -1;

	CASE("%s", path);
	CHECK_INT(safe_directory_open(path, &fd, &error), want);
	CHECK_HAS(error.text, why);
	CHECK_INT(fd >= 0, want == 0);
	if (fd >= 0)
		close(fd);
}

static void make(const char *name, mode_t mode)
{
	if (mkdir(scratch_path(name), 0700) || chmod(scratch_path(name), mode))
		abort();
}

static void test_good(void)
{
	struct stat made;

	make("there", 0755);
	check(scratch_path("there"), 0, "");
	check(scratch_path("there/"), 0, "");
	check(scratch_path("there/..//there/new"), 0, "");
	CHECK_INT(stat(scratch_path("there/new"), &made), 0);
	CHECK_UINT(made.st_mode & 07, 0);
	make("sticky", 01777);
	check(scratch_path("sticky/new"), 0, "");
	CHECK_INT(symlink("there/new", scratch_path("own")), 0);
	check(scratch_path("own"), 0, "");
	check(scratch_path("own/deeper"), 0, "");
}

static void test_bad(void)
{
	char path[1024] = "/", *end = path + 1;

	check(scratch_path("none/new"), -ENOENT, "none: No such file or directory");
	scratch_write("file", "");
	check(scratch_path("file"), -ENOTDIR, "file: Not a directory");
	check(scratch_path("file/new"), -ENOTDIR, "file: Not a directory");
	check("/", -ENOTDIR, "");
	make("open", 0757);
	check(scratch_path("open"), -EPERM, "users other than its owner can write to /");
	check(scratch_path("open/new"), -EPERM, "open; take that right from them");
	make("last", 01777);
	check(scratch_path("last"), -EPERM, "last; take that right from them");
	CHECK_INT(symlink(scratch_path("open"), scratch_path("way")), 0);
	check(scratch_path("way/new"), -EPERM, "way; take that right from them");
	CHECK_INT(symlink("loop", scratch_path("loop")), 0);
	check(scratch_path("loop"), -ELOOP, "loop: Too many levels");
	memset(end, 'x', 300);
	check(path, -ENOTDIR, "it is not a directory for files");
}

/* Directories of other users, which only root can make. */
static void test_strangers(void)
{
	if (geteuid() != 0) {
		printf("not root: no directories of others\n");
		return;
	}
	make("stranger", 0755);
	make("stranger/inside", 0755);
	CHECK_INT(chown(scratch_path("stranger"), STRANGER, STRANGER), 0);
	check(scratch_path("stranger"), -EPERM, "belongs to user 65534, who could replace");
	check(scratch_path("stranger/inside"), -EPERM, "stranger belongs to user 65534");
	CHECK_INT(symlink("there", scratch_path("link")), 0);
	CHECK_INT(lchown(scratch_path("link"), STRANGER, STRANGER), 0);
	check(scratch_path("link"), -EPERM, "link belongs to user 65534");
	check(scratch_path("link/new"), -EPERM, "link belongs to user 65534");
	make("group", 0775);
	check(scratch_path("group"), 0, "");
	CHECK_INT(chown(scratch_path("group"), 0, STRANGER), 0);
	check(scratch_path("group"), -EPERM, "group; take that right from them");
}

int main(void)
{
	unsigned before;

	umask(022);
	scratch_begin();
	before = testing_open_files();
	test_good();
	test_bad();
	test_strangers();
	CASE("descriptors");
	CHECK_UINT(testing_open_files(), before);
	scratch_end();
	return testing_end();
}
