/* SPDX-License-Identifier: MIT */
/*
 * Keeps events in a file. Whoever has one must not wait for a disk, so a thread writes them. It sleeps while nothing
 * happens.
 */
#include "recorder.h"

#include "event_file.h"
#include "util/lock.h"
#include "util/message.h"
#include "util/thread.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define QUEUE_SIZE (64U << 10) /* bytes: some hundred events */
#define STOP_S 1               /* that a stop waits for the disk */

static struct {
	const char *path;
	int wake; /* an eventfd */
	pthread_t thread;
	bool failed;            /* the last write failed */
	uint64_t lost;          /* events since the last write that succeeded */
	char lines[QUEUE_SIZE]; /* that the thread writes now */

	pthread_mutex_t lock; /* of what follows */
	bool running;
	bool stopping;
	unsigned refused; /* events for which the queue had no room */
	size_t queued;    /* bytes */
	char queue[QUEUE_SIZE];
} recorder = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t count_lines(const char *lines, size_t length)
{
	uint64_t count = 0;

	for (size_t i = 0; i < length; i++)
		count += lines[i] == '\n';
	return count;
}

/* Moves the queue to `lines` and returns their length. */
static size_t empty_queue(bool *ret_stopping)
{
	size_t length;

	lock_acquire(&recorder.lock);
	length = recorder.queued;
	memcpy(recorder.lines, recorder.queue, length);
	recorder.lost += recorder.refused;
	recorder.queued = recorder.refused = 0;
	*ret_stopping = recorder.stopping;
	lock_release(&recorder.lock);
	return length;
}

static void log_written(const char *why)
{
	unsigned long long lost = recorder.lost;

	if (why && !recorder.failed)
		message(LOG_ERR,
			"events are not kept in %s: %s; all else goes on (EventFile chooses another file)",
			recorder.path, why);
	else if (!why && recorder.failed)
		message(LOG_NOTICE, "events are kept in %s again; %llu were lost", recorder.path,
			lost);
	else if (!why && lost)
		message(LOG_WARNING, "%llu events were lost: they came faster than %s is written",
			lost, recorder.path);
}

static void write_lines(size_t length)
{
	struct error error;
	bool failed = event_file_append(recorder.path, recorder.lines, length, &error) != 0;

	log_written(failed ? error.text : NULL);
	recorder.lost = failed ? recorder.lost + count_lines(recorder.lines, length) : 0;
	recorder.failed = failed;
}

/* The first write has no event: it makes the file, and says early if that fails. */
static void *run_recorder(__attribute__((unused)) void *context)
{
	uint64_t woken;
	bool stopping;

	do {
		write_lines(empty_queue(&stopping));
	} while (!stopping && read(recorder.wake, &woken, sizeof(woken)) == sizeof(woken));
	return NULL;
}

static void wake_recorder(void)
{
	uint64_t one = 1;

	if (write(recorder.wake, &one, sizeof(one)) != sizeof(one))
		message(LOG_ERR, "cannot wake the thread that keeps events: %s", strerror(errno));
}

int recorder_start(const char *path)
{
	int status;

	recorder.path = path;
	recorder.failed = recorder.stopping = false;
	recorder.lost = recorder.queued = recorder.refused = 0;
	recorder.wake = eventfd(0, EFD_CLOEXEC);
	if (recorder.wake < 0)
		return -errno;
	status = thread_start(&recorder.thread, run_recorder, NULL);
	if (status) {
		close(recorder.wake);
		return status;
	}
	lock_acquire(&recorder.lock);
	recorder.running = true;
	lock_release(&recorder.lock);
	return 0;
}

void recorder_add(const struct event_line *line)
{
	char text[EVENT_LINE_MAX];
	size_t length = event_line_write(line, text);

	lock_acquire(&recorder.lock);
	if (recorder.running && length <= QUEUE_SIZE - recorder.queued) {
		memcpy(recorder.queue + recorder.queued, text, length);
		recorder.queued += length;
	} else {
		recorder.refused += recorder.running;
	}
	if (recorder.running)
		wake_recorder();
	lock_release(&recorder.lock);
}

/* false: it still waits for the disk. */
static bool join_recorder(void)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += STOP_S;
	return pthread_timedjoin_np(recorder.thread, NULL, &end) == 0;
}

void recorder_stop(void)
{
	bool running;

	lock_acquire(&recorder.lock);
	running = recorder.running;
	recorder.running = false;
	recorder.stopping = true;
	if (running)
		wake_recorder();
	lock_release(&recorder.lock);
	if (!running)
		return;
	if (join_recorder())
		close(recorder.wake);
	else
		message(LOG_WARNING, "the last events are lost: %s does not answer", recorder.path);
}
