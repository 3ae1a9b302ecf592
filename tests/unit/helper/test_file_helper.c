/* SPDX-License-Identifier: MIT */
/*
 * How long requests wait for a helper, what is done meanwhile, and what becomes of a helper that
 * does not reply in time. The test plays the helpers.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/helper.h"

#include "plugin/helper/descriptor.h"
#include "plugin/helper/helper_request.h"
#include "plugin/util/clock.h"
#include "plugin/util/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define LONG_MS 600000 /* longer than the test may last */
#define TEST_MAX_S 120

static struct file_helper helper;

/* The next request gets this helper. Returns its end of the socket. */
static int play_helper(struct file_helper *files)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		abort();
	set_helper_socket(files, ends[0]);
	return ends[1];
}

/* The reply for an empty file. */
static void reply_empty(int end)
{
	int32_t reply[sizeof(struct read_reply) / sizeof(int32_t) + 1] = { 0 };

	if (write(end, reply, sizeof(reply)) != sizeof(reply))
		abort();
}

static int read_of(struct file_helper *files, uint64_t owner, unsigned wait_ms)
{
	struct file_request request = {
		.path = "/etc/passwd", .cut = true, .wait_ms = wait_ms, .owner = owner
	};
	struct file file = { 0 };
	int status = file_read(files, &request, &file);

	free(file.bytes);
	return status;
}

/* Reads what was sent to the helper. Is it told to end? */
static bool has_end(int end)
{
	char bytes[4096];
	ssize_t got;

	do
		got = recv(end, bytes, sizeof(bytes), MSG_DONTWAIT);
	while (got > 0);
	return got == 0;
}

/* It is counted until it has ended, whatever it sends before. */
static void test_set_aside(void)
{
	int end = play_helper(&helper);

	CASE("a helper that is set aside");
	CHECK_INT(read_of(&helper, 1, 20), -ETIMEDOUT);
	CHECK_UINT(file_helper_stuck(&helper), 1);
	CHECK_INT(has_end(end), true);
	CASE("a late reply");
	reply_empty(end);
	file_helper_refresh(&helper);
	CHECK_UINT(file_helper_stuck(&helper), 1);
	CHECK_INT(read_of(&helper, 1, LONG_MS), -ETIMEDOUT);
	CASE("its end");
	close(end);
	file_helper_refresh(&helper);
	CHECK_UINT(file_helper_stuck(&helper), 0);
}

/* Replies although the program goes on, and then waits for other requests. */
static void play_early_reply(int end)
{
	struct helper_request head;
	struct run_reply reply = { 0 };
	char path[64];
	int fd;

	if (recv(end, &head, sizeof(head), MSG_WAITALL) != sizeof(head) ||
	    recv(end, path, head.path_length, MSG_WAITALL) != (ssize_t)head.path_length)
		_exit(1);
	for (uint32_t i = 0; i < head.descriptor_count; i++)
		fd = descriptor_receive_one(end);
	(void)fd;
	if (write(end, &reply, sizeof(reply)) != sizeof(reply))
		_exit(2);
	_exit(recv(end, path, 1, 0) == 0 ? 0 : 3);
}

/* The request times out for the program's output, after the whole reply of the helper. */
static void test_early_reply(void)
{
	struct symbol_buffer input = { NULL, 0 }, output;
	struct symbol_run run = { .program = "program", .debug = -1, .input = &input };
	struct file_charge charge = { .budget = FILE_OF_ROOT, .owner = 1 };
	uint64_t patience_ns = set_helper_patience(&helper, NS_PER_S / 2);
	struct run_reply ended;
	int end = play_helper(&helper), status = -1;
	pid_t pid = fork();

	CASE("a helper that has replied, and waits");
	if (pid == 0) {
		file_helper_done(&helper);
		play_early_reply(end);
	}
	close(end);
	CHECK_INT(helper_run_symbols(&helper, &charge, &run, &output, &ended), -ETIMEDOUT);
	CHECK_UINT(file_helper_stuck(&helper), 1);
	if (waitpid(pid, &status, 0) != pid)
		abort();
	CHECK_INT(status, 0);
	file_helper_refresh(&helper);
	CHECK_UINT(file_helper_stuck(&helper), 0);
	set_helper_patience(&helper, patience_ns);
}

/* A helper that sends a descriptor with an error is not used again. */
static void test_descriptor(void)
{
	struct file_charge charge = { .budget = FILE_OF_ROOT, .owner = 1 };
	struct open_reply reply = { .status = -EACCES };
	int end = play_helper(&helper), fd = -7;
	unsigned before = testing_open_files();

	CASE("a descriptor of an error");
	if (descriptor_send(end, &reply, sizeof(reply), 0, 0) != sizeof(reply))
		abort();
	CHECK_INT(helper_open(&helper, &charge, "/none/here", 0, &fd, &reply), -ENOENT);
	CHECK_INT(fd, -7);
	file_helper_done(&helper);
	CHECK_UINT(testing_open_files(), before - 1);
	close(end);
}

/* A request that does not fit into the socket. */
static void test_send(void)
{
	uint64_t *numbers = calloc(UPROBE_MULTI_MAX, sizeof(*numbers));
	struct uprobe_multi links = { .owner = 1,
				      .offsets = numbers,
				      .semaphores = numbers,
				      .cookies = numbers,
				      .count = UPROBE_MULTI_MAX };
	uint64_t patience_ns = set_helper_patience(&helper, NS_PER_S / 10);
	int end = play_helper(&helper), fd;

	CASE("a helper that does not receive");
	CHECK_INT(helper_link(&helper, &links, &fd), -ETIMEDOUT);
	CHECK_UINT(file_helper_stuck(&helper), 1);
	close(end);
	set_helper_patience(&helper, patience_ns);
	file_helper_refresh(&helper);
	free(numbers);
}

/* Only requests that time out use it up, and then the others still wait for a moment. */
static void test_patience(void)
{
	uint64_t hour_ns = 3600 * NS_PER_S, before;
	int end[3];

	CASE("patience");
	set_helper_patience(&helper, NS_PER_S / 10);
	end[0] = play_helper(&helper);
	CHECK_INT(read_of(&helper, 1, LONG_MS), -ETIMEDOUT);
	CHECK_UINT(set_helper_patience(&helper, 0), 0);
	end[1] = play_helper(&helper);
	CHECK_INT(read_of(&helper, 2, LONG_MS), -ETIMEDOUT);
	end[2] = play_helper(&helper);
	reply_empty(end[2]);
	CHECK_INT(read_of(&helper, 3, LONG_MS), 0);
	CHECK_UINT(file_helper_stuck(&helper), 2);
	CASE("patience of an hour");
	set_helper_patience(&helper, hour_ns);
	reply_empty(end[2]);
	CHECK_INT(read_of(&helper, 3, LONG_MS), 0);
	CHECK_UINT(set_helper_patience(&helper, hour_ns), hour_ns);
	CHECK_INT(read_of(&helper, 3, 20), -ETIMEDOUT);
	before = set_helper_patience(&helper, UINT64_MAX);
	CHECK_INT(before <= hour_ns - 20 * NS_PER_S / 1000, 1);
	CHECK_INT(before > 0, 1);
	for (size_t i = 0; i < COUNT_OF(end); i++)
		close(end[i]);
	CASE("no limit");
	end[0] = play_helper(&helper);
	CHECK_INT(read_of(&helper, 4, 20), -ETIMEDOUT);
	CHECK_UINT(set_helper_patience(&helper, UINT64_MAX), UINT64_MAX);
	close(end[0]);
	file_helper_refresh(&helper);
	CHECK_UINT(file_helper_stuck(&helper), 0);
}

struct duty {
	unsigned calls, calls_max; /* given up with the last one */
	struct file_helper other;
	int other_status;
	int end;
	unsigned reply_at; /* number of the call that replies, and lasts long */
};

static bool do_duty(void *of)
{
	struct duty *duty = of;

	duty->calls++;
	if (duty->calls == 2)
		duty->other_status = read_of(&duty->other, 1, LONG_MS);
	if (duty->calls == duty->reply_at) {
		reply_empty(duty->end);
		usleep(100000);
	}
	return duty->calls == duty->calls_max;
}

static void test_meanwhile(void)
{
	struct duty duty = { .calls_max = 4, .other_status = -1 };

	file_helper_init(&duty.other);
	set_helper_meanwhile(&helper, do_duty, &duty);
	CASE("another helper is used meanwhile, then the request is given up");
	duty.end = play_helper(&helper);
	CHECK_INT(read_of(&helper, 1, LONG_MS), -ECANCELED);
	CHECK_UINT(duty.calls, 4);
	CHECK_INT(duty.other_status, 0);
	CHECK_UINT(file_helper_stuck(&helper), 1);
	close(duty.end);
	CASE("given up before a helper is used");
	duty.end = play_helper(&helper);
	duty.calls = 3;
	CHECK_INT(read_of(&helper, 1, LONG_MS), -ECANCELED);
	CHECK_UINT(duty.calls, 4);
	CHECK_UINT(file_helper_stuck(&helper), 0);
	CASE("the reply comes while other work lasts longer than the request may");
	duty.calls = 0;
	duty.reply_at = 2;
	CHECK_INT(read_of(&helper, 1, 20), 0);
	CHECK_UINT(duty.calls, 2);
	close(duty.end);
	set_helper_meanwhile(&helper, NULL, NULL);
	file_helper_done(&duty.other);
}

#ifdef EBPF_DEBUG
/* Also of a helper that has replied at once. */
static void test_lock(void)
{
	pid_t pid = fork();
	int status = 0;

	CASE("a request with a lock held");
	if (pid == 0) {
		pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
		reply_empty(play_helper(&helper));
		lock_acquire(&lock);
		read_of(&helper, 1, LONG_MS);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid)
		abort();
	CHECK_INT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, 1);
}
#endif

int main(void)
{
	alarm(TEST_MAX_S); /* what waits for ever fails */
	file_helper_init(&helper);
	test_set_aside();
	test_early_reply();
	test_descriptor();
	test_send();
	test_patience();
	test_meanwhile();
	file_helper_done(&helper);
#ifdef EBPF_DEBUG
	test_lock();
#endif
	return testing_end();
}
