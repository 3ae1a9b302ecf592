/* SPDX-License-Identifier: MIT */
/*
 * Makes folded files of the stacks of all probes, in one thread. It reads the rings once a second,
 * and earlier when the kernel wakes it, for example for the first stack of a program: a program's
 * mappings can only be read while it lives. Once a minute it resolves names and writes files;
 * meanwhile it goes on to read the rings.
 *
 * Probes in OnThreshold of <Profiles> are attached only while a profile is taken. Their stacks of
 * other services are discarded.
 */
#include "profiler.h"

#include "bpf/lib/stack.h"
#include "stack/folded_file.h"
#include "util/clock.h"
#include "util/lock.h"
#include "util/thread.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define NAME "ebpf profiles" /* of the thread */
#define PASS_MS 1000
#define PAUSE_MS 20 /* between two passes over the rings */
#define WRITE_S 60
#define RECORDS_MAX 16384          /* of a ring, in one pass */
#define STOP_NS_MAX (3 * NS_PER_S) /* for resolving names when the thread stops */

struct profiler_ring {
	struct profiler *profiler;
	struct probe *probe;
	struct ring_buffer *ring;
	int view;
	const struct snapshot *snapshot; /* of the current pass */
	time_t now;
	unsigned collected; /* in this pass, of RECORDS_MAX */
};

/* --- rings --- */

static bool wants_stack(const struct profiler_ring *r, const char *service)
{
	return !r->probe->on_threshold || trigger_has(&r->profiler->trigger, service, clock_ns());
}

static const char *service_of_stack(const struct profiler_ring *r, const void *record, size_t size)
{
	uint32_t row = 0;

	if (size >= sizeof(struct stack_head))
		row = ((const struct stack_head *)record)->service;
	return snapshot_name(r->snapshot, row);
}

/* A ring_buffer_sample_fn. A negative number ends the pass. */
static int collect_stack(void *context, void *record, size_t size)
{
	struct profiler_ring *r = context;
	const char *service = service_of_stack(r, record, size);

	if (wants_stack(r, service) &&
	    collector_add(r->profiler->collector, r->view, service, record, size, r->now))
		__atomic_fetch_add(&r->probe->stacks_lost, 1, __ATOMIC_RELAXED);
	return ++r->collected < RECORDS_MAX ? 0 : -EAGAIN;
}

static void read_stack_rings(struct profiler *profiler)
{
	const struct snapshot *snapshot = services_acquire(profiler->services);

	for (size_t i = 0; i < profiler->ring_count; i++) {
		struct profiler_ring *r = &profiler->rings[i];

		r->snapshot = snapshot;
		r->now = time(NULL);
		r->collected = 0;
		ring_buffer__consume(r->ring);
	}
	services_release(profiler->services, snapshot);
}

/* --- files --- */

static uint64_t stopped_ns(const struct profiler *profiler)
{
	return __atomic_load_n(&profiler->stopped_ns, __ATOMIC_RELAXED);
}

static bool has_time(const struct profiler *profiler)
{
	uint64_t stopped = stopped_ns(profiler);

	return !stopped || clock_ns() - stopped < STOP_NS_MAX;
}

/* Reads the rings while names are being resolved. false: resolving must stop. */
static bool read_while_resolving(void *context)
{
	read_stack_rings(context);
	return has_time(context);
}

/* While the helper works. A new program in a ring would need the helper, so they are not read. */
static bool is_late(void *context)
{
	return !has_time(context);
}

static void write_profiles(struct profiler *profiler)
{
	struct error error;
	int status = collector_write(profiler->collector, time(NULL), read_while_resolving,
				     profiler, &error);

	if (status && !profiler->failed)
		message(LOG_ERR,
			"profiles are not written, and what they hold waits in memory, within "
			"bounds: %s",
			error.text);
	else if (status == 0 && profiler->failed)
		message(LOG_NOTICE, "profiles are written again");
	profiler->failed = status != 0;
}

static bool is_write_due(const struct profiler *profiler)
{
	time_t since = collector_since(profiler->collector), now = time(NULL);
	char began[FOLDED_HOUR_MAX], hour[FOLDED_HOUR_MAX];

	if (!since)
		return false;
	folded_hour(since, began);
	folded_hour(now, hour);
	return now - since >= WRITE_S || now < since || strcmp(began, hour) != 0 ||
	       collector_is_full(profiler->collector);
}

/* --- thresholds --- */

/* Upkeep attaches and detaches. */
static void want_probes(struct profiler *profiler, bool wanted)
{
	for (size_t i = 0; i < profiler->probe_count; i++)
		if (profiler->probes[i].on_threshold)
			__atomic_store_n(&profiler->probes[i].wanted, wanted, __ATOMIC_RELEASE);
	profiler->attached = wanted;
	upkeep_wake(profiler->upkeep);
}

/* Removes a service from the list of requests. false: the list is empty. */
static bool pop_request(struct profiler *profiler, char service[SUBJECT_NAME_MAX])
{
	bool any;

	lock_acquire(&profiler->lock);
	any = profiler->requested_count > 0;
	if (any)
		memcpy(service, profiler->requested[--profiler->requested_count], SUBJECT_NAME_MAX);
	lock_release(&profiler->lock);
	return any;
}

static bool is_service(const struct profiler *profiler, const char *name)
{
	const struct snapshot *snapshot = services_acquire(profiler->services);
	bool is = snapshot_has_service(snapshot, name);

	services_release(profiler->services, snapshot);
	return is;
}

static void start_requested(struct profiler *profiler)
{
	char service[SUBJECT_NAME_MAX];

	while (pop_request(profiler, service)) {
		if (!is_service(profiler, service) ||
		    !trigger_start(&profiler->trigger, service, clock_ns()))
			continue;
		message(LOG_NOTICE, "a threshold starts a profile of %s, %llu s", service,
			(unsigned long long)(profiler->trigger.length_ns / NS_PER_S));
		if (!profiler->attached)
			want_probes(profiler, true);
	}
}

/* Called after the rings were read: records in them belong to the profile. */
static void end_profile(struct profiler *profiler)
{
	if (profiler->attached && !trigger_any(&profiler->trigger, clock_ns()))
		want_probes(profiler, false);
}

/* --- the thread --- */

static void profiler_pass(struct profiler *profiler)
{
	start_requested(profiler);
	read_stack_rings(profiler);
	end_profile(profiler);
	if (is_write_due(profiler))
		write_profiles(profiler);
}

static void drain_eventfd(int fd)
{
	uint64_t ignored;

	while (read(fd, &ignored, sizeof(ignored)) > 0)
		;
}

static void *run_profiler(void *context)
{
	struct profiler *profiler = context;
	struct pollfd *fds = profiler->fds;

	pthread_setname_np(pthread_self(), NAME);
	fds[0] = (struct pollfd){ .fd = profiler->wake, .events = POLLIN };
	for (size_t i = 0; i < profiler->ring_count; i++)
		fds[i + 1] = (struct pollfd){
			.fd = ring_buffer__epoll_fd(profiler->rings[i].ring),
			.events = POLLIN,
		};
	while (!stopped_ns(profiler)) {
		poll(fds, profiler->ring_count + 1, PASS_MS);
		drain_eventfd(profiler->wake);
		profiler_pass(profiler);
		/* Drops rings that are empty by now from epoll's ready list. A ring that is filled
		 * after that without a wake-up is read by the clock. */
		poll(fds, profiler->ring_count + 1, 0);
		poll(fds, 1, PAUSE_MS);
	}
	read_stack_rings(profiler);
	if (collector_since(profiler->collector))
		write_profiles(profiler);
	return NULL;
}

/* --- starting and stopping --- */

static int open_stack_ring(struct profiler *profiler, struct probe *probe, const struct view *view,
			   struct error *error)
{
	struct profiler_ring *r = &profiler->rings[profiler->ring_count];

	*r = (struct profiler_ring){
		.profiler = profiler,
		.probe = probe,
		.view = collector_view(profiler->collector, view),
	};
	if (r->view < 0)
		return error_set(error, r->view, "there are too many views");
	r->ring = ring_buffer__new(bpf_map__fd(view->ring), collect_stack, r, NULL);
	if (!r->ring)
		return error_set(error, -errno, "cannot read the ring buffer %s: %s",
				 bpf_map__name(view->ring), strerror(errno));
	profiler->ring_count++;
	return 0;
}

static int open_stack_rings(struct profiler *profiler, struct error *error)
{
	int status = 0;

	for (size_t i = 0; i < profiler->probe_count && status == 0; i++) {
		struct probe *probe = &profiler->probes[i];

		for (size_t j = 0; j < probe->views.count && status == 0; j++)
			status = open_stack_ring(profiler, probe, &probe->views.item[j], error);
	}
	return status;
}

static int start_profiler_thread(struct profiler *profiler, struct error *error)
{
	int status;

	profiler->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (profiler->wake < 0)
		return error_set(error, -errno, "cannot make an eventfd: %s", strerror(errno));
	status = thread_start(&profiler->thread, run_profiler, profiler);
	if (status) {
		close(profiler->wake);
		return error_set(error, status, "cannot make a thread: %s", strerror(-status));
	}
	lock_acquire(&profiler->lock);
	profiler->running = true;
	lock_release(&profiler->lock);
	return 0;
}

static size_t count_rings(const struct profiler *profiler)
{
	size_t count = 0;

	for (size_t i = 0; i < profiler->probe_count; i++)
		count += profiler->probes[i].views.count;
	return count;
}

static void close_profiler(struct profiler *profiler)
{
	for (size_t i = 0; i < profiler->ring_count; i++)
		ring_buffer__free(profiler->rings[i].ring);
	free(profiler->rings);
	free(profiler->fds);
	collector_free(profiler->collector);
	file_helper_done(&profiler->files);
	profiler->rings = NULL;
	profiler->fds = NULL;
	profiler->ring_count = 0;
	profiler->collector = NULL;
}

int profiler_start(struct profiler *profiler, struct services *services, struct upkeep *upkeep,
		   struct probe *probes, size_t probe_count, struct error *error)
{
	const struct config *config = services->config;
	size_t count;
	int status;

	*profiler = (struct profiler){
		.services = services,
		.upkeep = upkeep,
		.probes = probes,
		.probe_count = probe_count,
		.files = FILE_HELPER_NONE,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	count = count_rings(profiler);
	if (!count)
		return 0;
	profiler->files.symbols = config->symbol_helper;
	profiler->files.meanwhile = is_late;
	profiler->files.meanwhile_of = profiler;
	profiler->trigger.length_ns = config->profiles.seconds * NS_PER_S;
	profiler->rings = calloc(count, sizeof(*profiler->rings));
	profiler->fds = calloc(count + 1, sizeof(*profiler->fds));
	status = profiler->rings && profiler->fds
			 ? 0
			 : error_set(error, -ENOMEM, "no memory for profiles");
	status = status
			 ?: collector_open(&profiler->collector, &config->profiles,
					   &profiler->files, &services->names.ksyms, error);
	status = status ?: open_stack_rings(profiler, error);
	status = status ?: start_profiler_thread(profiler, error);
	if (status)
		close_profiler(profiler);
	return status;
}

static void wake_thread(struct profiler *profiler)
{
	uint64_t one = 1;
	/* Without it the thread looks within a second. */
	ssize_t ignored = write(profiler->wake, &one, sizeof(one));

	(void)ignored;
}

void profiler_request(struct profiler *profiler, const char *service)
{
	lock_acquire(&profiler->lock);
	if (profiler->running && profiler->requested_count < PROFILER_REQUESTS_MAX) {
		snprintf(profiler->requested[profiler->requested_count++], SUBJECT_NAME_MAX, "%s",
			 service);
		wake_thread(profiler);
	}
	lock_release(&profiler->lock);
}

void profiler_stop(struct profiler *profiler)
{
	bool running;

	lock_acquire(&profiler->lock);
	running = profiler->running;
	profiler->running = false;
	lock_release(&profiler->lock);
	if (!running)
		return;
	__atomic_store_n(&profiler->stopped_ns, clock_ns(), __ATOMIC_RELAXED);
	wake_thread(profiler);
	pthread_join(profiler->thread, NULL);
	close(profiler->wake);
	close_profiler(profiler);
}
