/* SPDX-License-Identifier: MIT */
/*
 * Makes notifications of the records in ring buffers.
 *
 * This is not left to readings, which may be minutes apart: whoever is notified of a kill at once
 * can still see what led to it. The thread sleeps until the kernel wakes it, and costs nothing
 * while nothing happens. It calls the receivers of notifications with no lock held. While a
 * receiver takes its time, the ring fills up, the probe counts the records that it drops, and
 * readings go on.
 *
 * Rings are read ten times a second at most. That bounds the cost of a ring that never becomes
 * empty, of records that the thread's own wake-ups cause, and of a ring that starts with a record
 * which is reserved but never submitted.
 */
#include "notifier.h"

#include "dispatch.h"
#include "event/limit.h"
#include "util/clock.h"
#include "util/thread.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define RECORDS_MAX 256 /* of a ring, in one pass */
#define PAUSE_MS 100    /* between two passes over the rings */

struct notifier_ring {
	struct notifier *notifier;
	struct probe *probe;
	const struct event *event;
	struct ring_buffer *ring;
	struct limit limit;
	uint64_t now_ns;
	unsigned handled; /* in this pass, of RECORDS_MAX */
	char subject[SUBJECT_NAME_MAX];
	char text[EVENT_TEXT_MAX];
};

static void send_event(const struct notifier_ring *r, const char *subject, const char *what,
		       uint64_t more)
{
	const struct tag *tag = &r->event->tag;
	char text[EVENT_TEXT_MAX + 32];

	if (more)
		snprintf(text, sizeof(text), "%s (and %llu more)", what, (unsigned long long)more);
	else
		snprintf(text, sizeof(text), "%s", what);
	dispatch_notification(tag->instance[0] ? tag->instance : tag->type, r->event->health,
			      subject, tag->type, tag->instance, text);
}

static void name_service_of_row(struct services *services, uint32_t row, char *name, size_t size)
{
	const struct snapshot *snapshot = services_acquire(services);

	snprintf(name, size, "%s", snapshot_name(snapshot, row));
	services_release(services, snapshot);
}

static void describe_record(struct notifier_ring *r, const void *record)
{
	uint32_t row;

	if (event_row(r->event, record, &row))
		name_service_of_row(r->notifier->services, row, r->subject, sizeof(r->subject));
	else
		snprintf(r->subject, sizeof(r->subject), "%s", r->probe->name);
	event_text(r->event, record, r->subject, r->text, sizeof(r->text));
}

static void count_suppressed(struct notifier_ring *r)
{
	__atomic_fetch_add(&r->probe->events_suppressed, 1, __ATOMIC_RELAXED);
}

/* A ring_buffer_sample_fn. A negative number ends the pass. */
static int handle_record(void *context, void *record, size_t size)
{
	struct notifier_ring *r = context;
	uint64_t more;

	if (size < r->event->record_size) {
		count_suppressed(r);
	} else {
		describe_record(r, record);
		if (limit_pass(&r->limit, r->subject, r->text, r->now_ns, &more))
			send_event(r, r->subject, r->text, more);
		else
			count_suppressed(r);
	}
	return ++r->handled < RECORDS_MAX ? 0 : -EAGAIN;
}

static uint64_t read_event_ring(struct notifier_ring *r, uint64_t now_ns)
{
	const struct limit_source *source;
	uint64_t suppressed;

	r->now_ns = now_ns;
	r->handled = 0;
	ring_buffer__consume(r->ring);
	while (limit_release(&r->limit, now_ns, &source, &suppressed))
		send_event(r, source->subject, source->text, suppressed - 1);
	return limit_due(&r->limit);
}

/* Reads all rings. Returns when they must be read again even if no record arrives: ns of
 * CLOCK_BOOTTIME, or UINT64_MAX. */
static uint64_t read_event_rings(struct notifier *notifier, uint64_t now_ns)
{
	uint64_t due = UINT64_MAX;

	for (size_t i = 0; i < notifier->ring_count; i++) {
		uint64_t ring_due = read_event_ring(&notifier->rings[i], now_ns);

		due = ring_due < due ? ring_due : due;
	}
	return due;
}

/* For poll(): whole milliseconds, rounded up; -1: no limit. */
static int poll_timeout_ms(uint64_t due_ns)
{
	uint64_t now_ns = clock_ns();

	if (due_ns == UINT64_MAX)
		return -1;
	return due_ns <= now_ns ? 0 : (int)((due_ns - now_ns) / (NS_PER_S / 1000)) + 1;
}

static void *run_notifier(void *context)
{
	struct notifier *notifier = context;
	struct pollfd *fds = notifier->fds;
	uint64_t due = UINT64_MAX;

	for (;;) {
		int ready = poll(fds, notifier->ring_count + 1, poll_timeout_ms(due));

		if (fds[0].revents)
			break;
		due = read_event_rings(notifier, clock_ns());
		if (ready && poll(fds, 1, PAUSE_MS) > 0)
			break;
	}
	return NULL;
}

static int open_event_ring(struct notifier *notifier, struct probe *probe,
			   const struct event *event)
{
	struct notifier_ring *r = &notifier->rings[notifier->ring_count];

	*r = (struct notifier_ring){
		.notifier = notifier,
		.probe = probe,
		.event = event,
		.ring = ring_buffer__new(bpf_map__fd(event->ring), handle_record, r, NULL),
	};
	if (!r->ring)
		return -errno;
	notifier->ring_count++;
	return 0;
}

static int open_event_rings(struct notifier *notifier, struct probe *probes, size_t probe_count)
{
	size_t count = 0;
	int status = 0;

	for (size_t i = 0; i < probe_count; i++)
		count += probes[i].events.count;
	if (!count)
		return 0;
	notifier->rings = calloc(count, sizeof(*notifier->rings));
	if (!notifier->rings)
		return -ENOMEM;
	for (size_t i = 0; i < probe_count && status == 0; i++)
		for (size_t j = 0; j < probes[i].events.count && status == 0; j++)
			status = open_event_ring(notifier, &probes[i], &probes[i].events.item[j]);
	return status;
}

static void set_notifier_fds(struct notifier *notifier)
{
	notifier->fds[0] = (struct pollfd){ .fd = notifier->stop, .events = POLLIN };
	for (size_t i = 0; i < notifier->ring_count; i++)
		notifier->fds[i + 1] = (struct pollfd){
			.fd = ring_buffer__epoll_fd(notifier->rings[i].ring),
			.events = POLLIN,
		};
}

static int start_notifier_thread(struct notifier *notifier)
{
	int status;

	notifier->fds = calloc(notifier->ring_count + 1, sizeof(*notifier->fds));
	if (!notifier->fds)
		return -ENOMEM;
	notifier->stop = eventfd(0, EFD_CLOEXEC);
	if (notifier->stop < 0)
		return -errno;
	set_notifier_fds(notifier);
	status = thread_start(&notifier->thread, run_notifier, notifier);
	notifier->running = status == 0;
	if (status)
		close(notifier->stop);
	return status;
}

int notifier_start(struct notifier *notifier, struct services *services, struct probe *probes,
		   size_t probe_count)
{
	int status;

	if (notifier->services)
		return 0;
	notifier->services = services;
	status = open_event_rings(notifier, probes, probe_count);
	if (status == 0 && notifier->ring_count)
		status = start_notifier_thread(notifier);
	return status;
}

void notifier_stop(struct notifier *notifier)
{
	uint64_t one = 1;

	if (notifier->running) {
		if (write(notifier->stop, &one, sizeof(one)) == sizeof(one))
			pthread_join(notifier->thread, NULL);
		close(notifier->stop);
	}
	for (size_t i = 0; i < notifier->ring_count; i++) {
		ring_buffer__free(notifier->rings[i].ring);
		limit_done(&notifier->rings[i].limit);
	}
	free(notifier->rings);
	free(notifier->fds);
	*notifier = (struct notifier){ 0 };
}
