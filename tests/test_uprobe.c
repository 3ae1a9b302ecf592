/* SPDX-License-Identifier: MIT */
/*
 * Functions of files that are none, or do not answer: an error of its step, and nothing waits. The
 * kernel's part needs rights, and is tests/kernel/test_attach.py's.
 */
#include "testing.h"

#include "plugin/system/uprobe.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/test_uprobe.XXXXXX";
static struct file_reader files;

static void check(const char *path, const char *function, uint64_t offset, int status,
		  enum uprobe_step step, const char *want)
{
	struct uprobe_request request = { .path = path, .function = function, .offset = offset };
	enum uprobe_step got_step = 99;
	int fd = -7, got = uprobe_open(&files, &request, &fd, &got_step);

	CASE("%s:%s", path, function ? function : "");
	CHECK_INT(got, status);
	CHECK_INT(got_step, step);
	CHECK_HAS(uprobe_strerror(got, got_step), want);
	CHECK_INT(fd, -7);
}

static void test_files(void)
{
	char fifo[256], text[256];
	FILE *file;

	snprintf(fifo, sizeof(fifo), "%s/fifo", directory);
	snprintf(text, sizeof(text), "%s/text", directory);
	file = fopen(text, "w");
	if (mkfifo(fifo, 0600) != 0 || !file || fclose(file) != 0)
		abort();
	check(fifo, "f", 0, -EINVAL, UPROBE_OPEN, "it is not a regular file");
	check(directory, "f", 0, -EISDIR, UPROBE_OPEN, "Is a directory");
	check("/dev/zero", "f", 0, -EINVAL, UPROBE_OPEN, "it is not a regular file");
	check("/none/here", "f", 0, -ENOENT, UPROBE_OPEN, "No such file");
	check(text, "f", 0, -ENOEXEC, UPROBE_SEARCH, "it is no 64-bit program");
	check("/proc/self/exe", "no_such_function", 0, -ESRCH, UPROBE_SEARCH, "no function of");
	check("/proc/self/exe", NULL, 1, -EFAULT, UPROBE_SEARCH, "there is no code");
	check("/proc/self/exe", "main", UINT64_MAX, -EFAULT, UPROBE_SEARCH, "there is no code");
	unlink(fifo);
	unlink(text);
}

/* One that says nothing, and one that says nonsense. */
static void test_worker(void)
{
	static const uint32_t nonsense[] = { 0, UPROBE_ATTACH };
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		abort();
	file_reader_done(&files);
	files.worker_fd = ends[0];
	check("/no/answer", "f", 0, -ETIMEDOUT, UPROBE_ASK, "its file system does not answer");
	check("/no/answer", "f", 0, -ETIMEDOUT, UPROBE_ASK, "its file system does not answer");
	CHECK_UINT(files.stuck_count, 1);
	close(ends[1]);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		abort();
	files.worker_fd = ends[0];
	if (write(ends[1], nonsense, sizeof(nonsense)) != sizeof(nonsense))
		abort();
	/* Success without a descriptor: another one is asked. */
	check("/none/here", "f", 0, -ENOENT, UPROBE_OPEN, "No such file");
	close(ends[1]);
}

int main(void)
{
	if (access("/sys/bus/event_source/devices/uprobe/type", R_OK) != 0) {
		printf("the kernel has no uprobes\n");
		return TESTING_SKIPPED;
	}
	if (!mkdtemp(directory))
		abort();
	file_reader_init(&files);
	test_files();
	test_worker();
	file_reader_done(&files);
	rmdir(directory);
	return testing_end();
}
