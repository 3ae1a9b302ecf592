/* SPDX-License-Identifier: MIT */
/*
 * Files below a directory, and files that are refused: links that lead out, files that not all
 * users may read, other file systems.
 */
#include "tests/unit/testing.h"

#include "plugin/util/kernel_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

static char dir[] = "/tmp/test_kernel_directory.XXXXXX";

static void write_file(const char *name, const char *text, mode_t mode)
{
	int fd = openat(AT_FDCWD, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK_INT(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), 1);
	CHECK_INT(fchmod(fd, mode), 0);
	close(fd);
}

static void make_files(void)
{
	CHECK_INT(mkdtemp(dir) != NULL && chdir(dir) == 0, 1);
	CHECK_INT(mkdir("root", 0755) || mkdir("root/a", 0755), 0);
	write_file("outside", "secret", 0644);
	write_file("root/a/file", "text", 0444);
	write_file("root/a/private", "text", 0440);
	CHECK_INT(symlink("a/file", "root/inside"), 0);
	CHECK_INT(symlink("../outside", "root/out"), 0);
	CHECK_INT(symlink("/etc/passwd", "root/passwd"), 0);
	CHECK_INT(symlink("loop", "root/loop"), 0);
	CHECK_INT(mkfifo("root/fifo", 0644), 0);
}

static void test_open(int root)
{
	static const struct {
		const char *path;
		int want; /* 0: it opens */
	} cases[] = {
		{ "a/file", 0 },           { "inside", 0 },      { "a/../a/file", 0 },
		{ "out", -EXDEV },         { "passwd", -EXDEV }, { "../outside", -EXDEV },
		{ "/etc/passwd", -EXDEV }, { "loop", -ELOOP },   { "a/private", -EPERM },
		{ "fifo", -EINVAL },       { "a", -EINVAL },     { "none", -ENOENT },
		{ "a/file/b", -ENOTDIR },
	};
	struct kernel_text text = { 0 };

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		uint64_t inode = 0;
		int fd = kernel_directory_open_file(root, cases[i].path, &inode);

		CASE("%s", cases[i].path);
		CHECK_INT(fd < 0 ? fd : 0, cases[i].want);
		CHECK_INT(inode != 0, fd >= 0);
		if (fd < 0)
			continue;
		CHECK_INT(kernel_text_read(fd, &text, 100), 4);
		CHECK_INT(memcmp(text.bytes, "text", 4), 0);
		close(fd);
	}
	kernel_text_done(&text);
}

static void *rename_for_ever(void *unused)
{
	for (;;) {
		rename("here", "there");
		rename("there", "here");
		pthread_testcancel();
	}
	return unused;
}

/* Opening works while other processes rename unrelated directories; without a retry, one in four
 * attempts failed. */
static void test_open_during_renames(int root)
{
	pthread_t thread;
	int opened = 0;

	write_file("here", "text", 0444);
	CHECK_INT(pthread_create(&thread, NULL, rename_for_ever, NULL), 0);
	for (int i = 0; i < 10000; i++) {
		uint64_t inode;
		int fd = kernel_directory_open_file(root, "a/../a/file", &inode);

		opened += fd >= 0;
		if (fd >= 0)
			close(fd);
	}
	CASE("opened of 10,000 while files are renamed");
	CHECK_INT(opened, 10000);
	CHECK_INT(pthread_cancel(thread) || pthread_join(thread, NULL), 0);
}

static void test_read(int root)
{
	struct kernel_text text = { 0 };
	uint64_t inode;
	int fd = kernel_directory_open_file(root, "a/file", &inode);

	CASE("from the start, each time");
	CHECK_INT(kernel_text_read(fd, &text, 4), 4);
	CHECK_INT(kernel_text_read(fd, &text, 4), 4);
	CASE("larger than it may be");
	CHECK_INT(kernel_text_read(fd, &text, 3), -EFBIG);
	CHECK_INT(chmod("root/a/file", 0644), 0);
	CHECK_INT(truncate("root/a/file", 100000), 0);
	CHECK_INT(kernel_text_read(fd, &text, 99999), -EFBIG);
	CHECK_INT(kernel_text_read(fd, &text, 100000), 100000);
	CHECK_INT(text.room <= 100001, 1);
	CASE("no file");
	CHECK_INT(kernel_text_read(-1, &text, 4), -EBADF);
	close(fd);
	kernel_text_done(&text);
}

/* Real kernel files, on any machine. */
static void test_kernel(void)
{
	int proc = kernel_directory_open(KERNEL_FS_PROC, "/proc"), sys, directory;
	struct kernel_text text = { 0 };
	uint64_t inode;
	int fd = kernel_directory_open_file(proc, "stat", &inode);

	CASE("the kernel's");
	CHECK_INT(fd >= 0 && kernel_text_read(fd, &text, 1 << 20) > 4, 1);
	CHECK_INT(memcmp(text.bytes, "cpu ", 4), 0);
	close(fd);
	CHECK_INT(kernel_directory_open_file(proc, "self/root/etc/passwd", &inode), -ELOOP);
	CHECK_INT(kernel_directory_open_file(proc, "self/fd/0", &inode), -ELOOP);
	CHECK_INT(kernel_directory_open_file(proc, "kmsg", &inode) < 0, 1);
	fd = kernel_directory_open_file(proc, "net/dev", &inode);
	CHECK_INT(fd >= 0, 1);
	close(fd);
	CASE("other file systems");
	CHECK_INT(kernel_directory_open(KERNEL_FS_PROC, "/sys"), -ENODEV);
	CHECK_INT(kernel_directory_open(KERNEL_FS_CGROUP, "/tmp"), -ENODEV);
	CHECK_INT(kernel_directory_open(KERNEL_FS_SYS, "/nowhere"), -ENOENT);
	sys = kernel_directory_open(KERNEL_FS_SYS, "/sys");
	if (access("/sys/fs/cgroup", F_OK) == 0)
		CHECK_INT(kernel_directory_open_subdirectory(sys, "fs/cgroup"), -EXDEV);
	directory = kernel_directory_open_subdirectory(sys, "devices/system/cpu");
	CHECK_INT(directory >= 0, 1);
	close(directory);
	close(sys);
	close(proc);
	kernel_text_done(&text);
}

int main(void)
{
	char remove[64];
	int root;

	make_files();
	root = open("root", O_PATH | O_DIRECTORY);
	test_open(root);
	test_open_during_renames(root);
	test_read(root);
	test_kernel();
	close(root);
	snprintf(remove, sizeof(remove), "rm -rf %s", dir);
	CHECK_INT(chdir("/") || system(remove), 0);
	return testing_end();
}
