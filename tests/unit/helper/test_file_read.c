/* SPDX-License-Identifier: MIT */
/*
 * What a helper process reads in other ways than as the bytes of a file: directories, files as another process sees
 * them, and files as a stream.
 */
#include "tests/unit/testing.h"

#include "plugin/helper/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAIT_MS 10000
#define LARGE 300001

static const char *const all[] = { "small", "large", "link", "fifo" };
static char directory[] = "/tmp/test_file_read.XXXXXX";
static struct file_helper helper;

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void write_letters(const char *name, size_t size)
{
	FILE *file = fopen(path_of(name), "w");

	for (size_t i = 0; file && i < size; i++)
		fputc('a' + (int)(i % 26), file);
	if (!file || fclose(file) != 0)
		abort();
}

static void test_mode(void)
{
	struct file_request request = { .size_max = 100, .wait_ms = WAIT_MS };
	struct file file = { 0 };

	CASE("a file that all may write");
	chmod(path_of("small"), 0646);
	request.path = path_of("small");
	CHECK_INT(file_read(&helper, &request, &file), 0);
	CHECK_UINT(file.mode, S_IFREG | 0646);
	free(file.bytes);
	chmod(path_of("small"), 0644);
}

static bool has_name(const struct file *names, const char *name)
{
	for (const char *at = names->bytes; at < names->bytes + names->size; at += strlen(at) + 1)
		if (!strcmp(at, name))
			return true;
	return false;
}

static void test_directory(void)
{
	struct file_request request = {
		.path = directory, .size_max = 100000, .is_directory = true, .wait_ms = WAIT_MS
	};
	struct file file = { 0 };

	CASE("a directory");
	CHECK_INT(file_read(&helper, &request, &file), 0);
	/* And the two that every directory has. */
	CHECK_UINT(file.size, sizeof("small\0large\0link\0fifo\0.\0.."));
	for (size_t i = 0; i < COUNT_OF(all); i++)
		CHECK_INT(has_name(&file, all[i]), true);
	CHECK_UINT(file.owner, geteuid());
	CHECK_UINT(file.mode, S_IFDIR | 0700);
	free(file.bytes);
	CASE("a file, as a directory");
	request.path = path_of("small");
	CHECK_INT(file_read(&helper, &request, &file), -ENOTDIR);
}

/* Paths as another process sees them; links lead nowhere else. */
static void test_view(void)
{
	static const struct {
		const char *name;
		bool follow;
		int status;
	} cases[] = {
		{ "small", false, 0 },     { "link", true, 0 },       { "link", false, -ELOOP },
		{ "fifo", true, -EINVAL }, { "none", true, -ENOENT },
	};
	struct file_request request = { .size_max = 10, .wait_ms = WAIT_MS };

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct file file = { 0 };

		CASE("%s, as a process sees it", cases[i].name);
		request.path = path_of(cases[i].name);
		request.follow = cases[i].follow;
		request.pid = getpid();
		CHECK_INT(file_read(&helper, &request, &file), cases[i].status);
		CHECK_UINT(file.size, cases[i].status ? 0 : 10);
		free(file.bytes);
	}
	CASE("a process that has exited");
	request.pid = 1 << 22;
	CHECK_INT(file_read(&helper, &request, &(struct file){ 0 }), -ESRCH);
}

struct received {
	size_t starts, size, wrong;
};

static void receive_part(void *of, const char *bytes, size_t size)
{
	struct received *received = of;

	received->starts += !bytes;
	for (size_t i = 0; i < size; i++, received->size++)
		received->wrong += bytes[i] != 'a' + (int)(received->size % 26);
}

static void test_stream(void)
{
	struct received received = { 0 };
	struct file_request request = { .path = path_of("large"),
					.size_max = LARGE,
					.wait_ms = WAIT_MS,
					.stream = { receive_part, &received } };
	struct file file = { 0 };

	CASE("a file as a stream");
	CHECK_INT(file_read(&helper, &request, &file), 0);
	CHECK_INT(file.bytes == NULL, true);
	CHECK_UINT(file.size, LARGE);
	CHECK_UINT(received.size, LARGE);
	CHECK_UINT(received.starts, 1);
	CHECK_UINT(received.wrong, 0);
	request.size_max = LARGE - 1;
	CHECK_INT(file_read(&helper, &request, &file), -EFBIG);
}

int main(void)
{
	char destination[256];

	if (!mkdtemp(directory))
		abort();
	file_helper_init(&helper);
	write_letters("small", 10);
	write_letters("large", LARGE);
	snprintf(destination, sizeof(destination), "%s", path_of("small"));
	if (symlink(destination, path_of("link")) != 0 || mkfifo(path_of("fifo"), 0600) != 0)
		abort();
	test_mode();
	test_directory();
	test_view();
	test_stream();
	file_helper_done(&helper);
	for (size_t i = 0; i < COUNT_OF(all); i++)
		unlink(path_of(all[i]));
	rmdir(directory);
	return testing_end();
}
