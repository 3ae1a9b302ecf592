/* SPDX-License-Identifier: MIT */
/*
 * Values from kernel files, and texts that are no such file.
 */
#include "tests/unit/testing.h"

#include "plugin/util/kernel_file.h"

#include <errno.h>
#include <sys/stat.h>

static void test_cpus(void)
{
	static const struct {
		const char *list;
		uint32_t want;
	} cases[] = {
		{ "0\n", 1 },
		{ "0", 1 },
		{ "0-3\n", 4 },
		{ "0-3,7\n", 8 },
		{ "0,2-5,64-127\n", 128 },
		{ "8,0-3\n", 9 }, /* in no guaranteed order */
		{ "8191\n", 8192 },
		{ "1048575", 1048576 },
		{ "1048576", 0 },
		{ "18446744073709551616", 0 },
		{ "340282366920938463463374607431768211456\n", 0 },
		{ "", 0 },
		{ "\n", 0 },
		{ "0-", 0 },
		{ "-3", 0 },
		{ "3-1", 0 },
		{ "0,", 0 },
		{ "0,,1", 0 },
		{ "0-1-2", 0 },
		{ "0 1", 0 },
		{ "0-3\n\n", 0 },
		{ "none", 0 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("cpus %s", cases[i].list);
		CHECK_UINT(kernel_file_cpus_end(cases[i].list, strlen(cases[i].list)),
			   cases[i].want);
	}
	CASE("cpus with a NUL");
	CHECK_UINT(kernel_file_cpus_end("0-3\0,7", 6), 0);
	CASE("cpus, no further than their length");
	CHECK_UINT(kernel_file_cpus_end("0-37", 3), 4);
}

static void test_memlock(void)
{
	static const struct {
		const char *info;
		uint64_t want;
	} cases[] = {
		{ "pos:\t0\nflags:\t02000002\nmap_type:\t2\nmemlock:\t8192\nmap_id:\t7\n", 8192 },
		{ "memlock:\t4096", 4096 },
		{ "memlock:\t18446744073709551614\n", UINT64_MAX - 1 },
		{ "memlock:\t18446744073709551616\n", 0 },
		{ "memlock:\t-1\n", 0 },
		{ "memlock:\t12x\nmemlock:\t3\n", 0 },
		{ "memlock:\t\n", 0 },
		{ "memlock:", 0 },
		{ "xmemlock:\t5\n", 0 },
		{ "pos:\t0\n", 0 },
		{ "", 0 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CASE("memlock %zu", i);
		CHECK_UINT(kernel_file_memlock(cases[i].info, strlen(cases[i].info)),
			   cases[i].want);
	}
}

static void test_read(void)
{
	char path[] = "/tmp/test_kernel_file.XXXXXX", text[8];
	int fd = mkstemp(path);

	CASE("read");
	CHECK_INT(fd >= 0 && write(fd, "a\0b\n", 4) == 4, 1);
	CHECK_INT(kernel_file_read(path, text, sizeof(text)), 4);
	CHECK_INT(memcmp(text, "a\0b\n", 4), 0);
	CHECK_INT(write(fd, "1234", 4), 4);
	CHECK_INT(kernel_file_read(path, text, sizeof(text)), -EFBIG);
	CHECK_INT(ftruncate(fd, 0), 0);
	CHECK_INT(kernel_file_read(path, text, sizeof(text)), 0);
	close(fd);
	unlink(path);
	CHECK_INT(kernel_file_read(path, text, sizeof(text)), -ENOENT);
	CASE("read what is no regular file");
	CHECK_INT(mkfifo(path, 0600), 0);
	CHECK_INT(kernel_file_read(path, text, sizeof(text)), -EINVAL);
	unlink(path);
	CHECK_INT(kernel_file_read("/dev/zero", text, sizeof(text)), -EINVAL);
	CHECK_INT(kernel_file_read("/", text, sizeof(text)), -EINVAL);
}

int main(void)
{
	test_cpus();
	test_memlock();
	test_read();
	return testing_end();
}
