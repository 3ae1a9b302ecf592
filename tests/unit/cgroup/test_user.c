/* SPDX-License-Identifier: MIT */
/*
 * User names, from the text of a passwd file that may be hostile.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/helper.h"

#include "plugin/cgroup/user.h"
#include "plugin/util/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

static struct users users = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void check_name(uint64_t id, const char *want)
{
	char name[64] = "";

	CASE("user %ju", (uintmax_t)id);
	CHECK_INT(user_name(&users, id, name, sizeof(name)), want != NULL);
	CHECK_TEXT(name, want ?: "");
}

static void check_home(uint64_t id, const char *want)
{
	char home[USER_HOME_MAX] = "";

	CASE("home of user %ju", (uintmax_t)id);
	CHECK_INT(user_home(&users, id, home), want != NULL);
	CHECK_TEXT(home, want ?: "");
}

static void test_homes(void)
{
	char text[512], long_home[USER_HOME_MAX] = "";

	memset(long_home, 'x', sizeof(long_home) - 1);
	snprintf(text, sizeof(text),
		 "a:x:1:1:A,,,:/home/a:/bin/sh\nb:x:2:1::/srv/b\nc:x:3:1:c\nd:x:4\n"
		 "e:x:5:1:::\nf:x:6:1::../f:\ng:x:7:1::/%s:\nh:x:8:1::/%s:\n",
		 long_home, long_home + 1);
	CHECK_INT(users_parse(&users, text), 0);
	check_home(1, "/home/a");
	check_home(2, "/srv/b");
	for (uint64_t id = 3; id <= 7; id++)
		check_home(id, NULL);
	long_home[0] = '/';
	check_home(8, long_home);
	check_home(9, NULL);
}

static void test_parse(void)
{
	char text[] = "web:x:1000:1000::/:\nroot:x:0:0:root:/root:/bin/sh\ntoor:x:0:0::/:\n"
		      "# nobody\n\n:x:5:5::/:\nnone\nlate:x\nminus:x:-1:1::/:\n+nis::::::\n"
		      "wide:x:4294967296:1::/:\nlast:x:4294967295:1::/:\nhalf:x:7x:1::/:\nend:x:9:";

	CHECK_INT(users_parse(&users, text), 0);
	check_name(1000, "web");
	check_name(0, "root");
	check_name(5, NULL);
	check_name(7, NULL);
	check_name(9, "end");
	check_name(1, NULL);
	check_name(UINT32_MAX, NULL);
	check_name(1ULL << 32, NULL);
	check_name(UINT64_MAX, NULL);
}

static void test_long(void)
{
	size_t size = 32 * (USERS_MAX + 10);
	char *text = calloc(1, size), *at = text;

	at += sprintf(at, "%0*d:x:3:\n", USER_NAME_MAX, 0);
	for (int i = USERS_MAX + 9; i > 0; i--)
		at += sprintf(at, "u%d:x:%d:0\n", i, i);
	CHECK_INT(users_parse(&users, text), 0);
	check_name(USERS_MAX + 9, "u16393");
	check_name(10, "u10");
	check_name(9, NULL);
	check_name(3, NULL);
	free(text);
}

static void test_refresh(void)
{
	struct file_helper files;
	char none[] = "";

	users_parse(&users, none);
	file_helper_init(&files);
	users_refresh(&users, &files, NS_PER_S);
	check_name(0, NULL); /* the user is not requested */
	users_want(&users);
	users_refresh(&users, &files, NS_PER_S);
	check_name(0, "root");
	users_parse(&users, none);
	users_refresh(&users, &files, 60 * NS_PER_S);
	check_name(0, NULL);
	users_refresh(&users, &files, 61 * NS_PER_S);
	check_name(0, "root");
	file_helper_done(&files);
}

/* A process of root's whose command line does not answer keeps back no other file of root's. */
static void test_hanging_process(void)
{
	struct file_request request = { .path = "/proc/self/cmdline",
					.size_max = 4096,
					.cut = true,
					.wait_ms = 10,
					.budget = FILE_OF_ROOT_PROCESSES };
	struct file_helper files;
	struct file file;
	char none[] = "";
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		abort();
	users_parse(&users, none);
	file_helper_init(&files);
	set_helper_socket(&files, ends[0]);
	CHECK_INT(file_read(&files, &request, &file), -ETIMEDOUT);
	request.path = "/proc/1/cmdline";
	request.wait_ms = 10000;
	CHECK_INT(file_read(&files, &request, &file), 0);
	free(file.bytes);
	users_refresh(&users, &files, 1000 * NS_PER_S);
	check_name(0, "root");
	CHECK_UINT(file_helper_stuck(&files), 1);
	file_helper_done(&files);
	close(ends[1]);
}

int main(void)
{
	check_name(0, NULL);
	test_parse();
	test_homes();
	test_long();
	test_refresh();
	test_hanging_process();
	users_done(&users);
	check_name(0, NULL);
	return testing_end();
}
