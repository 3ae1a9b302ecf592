/* SPDX-License-Identifier: MIT */
/*
 * What is logged about pid files that are read late. The helper and the clock are played.
 */
#include "tests/unit/fake/oconfig.h"
#include "tests/unit/messages.h"
#include "tests/unit/testing.h"

#include "plugin/service/pidfile.h"
#include "plugin/util/clock.h"
#include "plugin/util/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int file_status;
static uint64_t now_ns = NS_PER_S;

int __wrap_file_read(struct file_helper *helper, const struct file_request *request,
		     struct file *ret_file);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now);

int __wrap_file_read(__attribute__((unused)) struct file_helper *helper,
		     __attribute__((unused)) const struct file_request *request,
		     struct file *ret_file)
{
	if (file_status == 0)
		*ret_file = (struct file){ .bytes = strdup("42\n"), .size = 3 };
	return file_status;
}

int __wrap_clock_gettime(__attribute__((unused)) clockid_t clock, struct timespec *ret_now)
{
	ret_now->tv_sec = (time_t)(now_ns / NS_PER_S);
	ret_now->tv_nsec = (long)(now_ns % NS_PER_S);
	return 0;
}

/* Reads the files this long after the last time; returns how many messages there are about them. */
static size_t read_after(struct pid_files *files, unsigned after_ms, int status)
{
	now_ns += after_ms * 1000000ULL;
	file_status = status;
	pid_files_read(files, NULL);
	return messages_with("names no process");
}

static void test_lateness(void)
{
	static const struct {
		const char *name;
		int status;
	} cases[] = { { "late", -ETIMEDOUT }, { "others late", -EBUSY } };
	oconfig_item_t *block = oconfig_read("<Service \"a\">\nPidFile \"/run/a\"\n</Service>");
	struct config config;

	config_init(&config);
	CHECK_UINT(config_read(&config, block), 0);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct pid_files files;

		daemon_clear();
		CHECK_INT(pid_files_init(&files, &config), 0);
		CASE("%s once, as at the start", cases[i].name);
		CHECK_UINT(read_after(&files, 0, cases[i].status), 0);
		CHECK_UINT(read_after(&files, 1, cases[i].status), 0);
		CASE("%s, read, and again much later", cases[i].name);
		CHECK_UINT(read_after(&files, 1, 0), 0);
		CHECK_UINT(read_after(&files, 10000, cases[i].status), 0);
		CASE("%s again", cases[i].name);
		CHECK_UINT(read_after(&files, 5000, cases[i].status), 1);
		CHECK_UINT(read_after(&files, 5000, cases[i].status), 1);
		CASE("%s, and then without a number", cases[i].name);
		CHECK_UINT(read_after(&files, 1, -EBADMSG), 2);
		pid_files_done(&files);
	}
	oconfig_free(block);
	config_done(&config);
}

int main(void)
{
	message_to(daemon_record);
	test_lateness();
	daemon_clear();
	return testing_end();
}
