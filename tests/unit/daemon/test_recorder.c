/* SPDX-License-Identifier: MIT */
/*
 * The thread that keeps events: what it is given is in the file when it has stopped, and a file that cannot be written
 * is one message.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/daemon.h"
#include "tests/unit/messages.h"
#include "tests/unit/scratch_directory.h"

#include "plugin/daemon/event_file.h"
#include "plugin/daemon/recorder.h"
#include "plugin/util/message.h"

#include <semaphore.h>
#include <stdatomic.h>

#define FLOOD 10000 /* of less than two full files */

static char path[512];
static atomic_uint writes;
static atomic_bool is_silent; /* writes wait for `goes_on` */
static sem_t goes_on;

int __real_event_file_append(const char *at, const char *lines, size_t length, struct error *error);
int __wrap_event_file_append(const char *at, const char *lines, size_t length, struct error *error);
int __wrap_event_file_append(const char *at, const char *lines, size_t length, struct error *error)
{
	int status;

	if (is_silent)
		sem_wait(&goes_on);
	status = __real_event_file_append(at, lines, length, error);
	writes++;
	return status;
}

static size_t count_lines(const char *name)
{
	char *text = scratch_read(name);
	size_t count = 0;

	for (const char *at = text; *at; at++)
		count += *at == '\n';
	free(text);
	return count;
}

static void add(unsigned count)
{
	const struct event_line line = { .service = "web", .text = "it has happened" };

	for (unsigned i = 0; i < count; i++)
		recorder_add(&line);
}

static void wait_for_write(void)
{
	for (unsigned i = 0; i < 6000 && !writes; i++)
		usleep(10000);
	CHECK_INT(writes > 0, true);
}

static void test_start(void)
{
	unsigned before = testing_open_files();

	CASE("not started");
	add(1);
	recorder_stop();
	CASE("started twice");
	for (size_t i = 1; i <= 2; i++) {
		CHECK_INT(recorder_start(path), 0);
		add(3);
		recorder_stop();
		add(1);
		CHECK_UINT(count_lines("ebpf/events.jsonl"), 3 * i);
	}
	CHECK_UINT(daemon_messages(), 0);
	CHECK_UINT(testing_open_files(), before);
}

static void test_failure(void)
{
	CASE("something else has its name");
	unlink(path);
	CHECK_INT(mkdir(path, 0700), 0);
	CHECK_INT(recorder_start(path), 0);
	add(2);
	recorder_stop();
	CHECK_UINT(daemon_messages(), 1);
	CHECK_INT(daemon_severity(0), LOG_ERR);
	CHECK_HAS(daemon_message(0), "something else has this name; remove it; all else goes on");
	CASE("it is removed");
	daemon_clear();
	writes = 0;
	CHECK_INT(recorder_start(path), 0);
	wait_for_write();
	rmdir(path);
	add(1);
	recorder_stop();
	CHECK_UINT(daemon_messages(), 2);
	CHECK_HAS(daemon_message(1), " again; 0 were lost");
	CHECK_UINT(count_lines("ebpf/events.jsonl"), 1);
	daemon_clear();
}

/* What is not in the file is lost, which a message says. */
static void test_flood(void)
{
	size_t written, lost = 0;

	CASE("a flood");
	unlink(path);
	CHECK_INT(recorder_start(path), 0);
	add(FLOOD);
	recorder_stop();
	written = count_lines("ebpf/events.jsonl") + count_lines("ebpf/events.jsonl.1");
	for (size_t i = 0; i < daemon_messages(); i++)
		lost += (size_t)strtoul(daemon_message(i), NULL, 10);
	CHECK_UINT(written + lost, FLOOD);
}

static void test_silent_disk(void)
{
	CASE("a disk that does not answer");
	daemon_clear();
	sem_init(&goes_on, 0, 0);
	CHECK_INT(recorder_start(path), 0);
	is_silent = true;
	add(1);
	recorder_stop();
	CHECK_HAS(message_with("does not answer"), "the last events are lost: ");
	sem_post(&goes_on);
}

int main(void)
{
	message_to(daemon_record);
	scratch_begin();
	snprintf(path, sizeof(path), "%s", scratch_path("ebpf/events.jsonl"));
	test_start();
	test_failure();
	test_flood();
	test_silent_disk();
	scratch_end();
	return testing_end();
}
