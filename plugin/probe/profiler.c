/* SPDX-License-Identifier: MIT */
/*
 * Stacks of all probes become folded files, in one thread. It looks at the rings once a second, and sooner where the kernel
 * wakes it, as for a program that it has not seen: while that lives its mappings can be read. Names
 * are looked up, and files written, once a minute; meanwhile the rings are emptied.
 *
 * Probes that <Profiles> has in OnThreshold are attached while a profile is under way, and what they say of other services
 * is left out.
 */
#include "profiler.h"

#include "bpf/lib/stack.h"
#include "pause.h"
#include "stack/folded_file.h"
#include "util/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define NAME "ebpf profiles" /* of the thread */
#define LOOK_MS 1000
#define PAUSE_MS 20 /* from one look at the rings to the next */
#define WRITE_S 60
#define RECORDS_MAX 16384          /* of a ring at once */
#define STOP_NS_MAX (3 * NS_PER_S) /* for names at the end */

struct profiler_ring {
	struct profiler *profiler;
	struct probe *probe;
	struct ring_buffer *ring;
	int view;
	const struct snapshot *snapshot; /* of the look that goes on */
	time_t now;
	unsigned taken; /* of RECORDS_MAX */
};

/* --- rings --- */

static bool is_wanted(const struct profiler_ring *r, const char *service)
{
	return !r->probe->on_threshold || trigger_has(&r->profiler->trigger, service, clock_ns());
}

static const char *service_of(const struct profiler_ring *r, const void *record, size_t size)
{
	uint32_t row = 0;

	if (size >= sizeof(struct stack_head))
		row = ((const struct stack_head *)record)->service;
	return snapshot_name(r->snapshot, row);
}

/* As libbpf wants it; a negative number makes it stop. */
static int take(void *context, void *record, size_t size)
{
	struct profiler_ring *r = context;
	const char *service = service_of(r, record, size);

	if (is_wanted(r, service) &&
	    collector_take(r->profiler->collector, r->view, service, record, size, r->now))
		__atomic_fetch_add(&r->probe->stacks_lost, 1, __ATOMIC_RELAXED);
	return ++r->taken < RECORDS_MAX ? 0 : -EAGAIN;
}

static void take_all(struct profiler *profiler)
{
	const struct snapshot *snapshot = services_take(profiler->services);

	for (size_t i = 0; i < profiler->ring_count; i++) {
		struct profiler_ring *r = &profiler->rings[i];

		r->snapshot = snapshot;
		r->now = time(NULL);
		r->taken = 0;
		ring_buffer__consume(r->ring);
	}
	services_release(profiler->services, snapshot);
}

/* --- files --- */

static uint64_t stopped_ns(const struct profiler *profiler)
{
	return __atomic_load_n(&profiler->stopped_ns, __ATOMIC_RELAXED);
}

/* While names are looked up. */
static bool take_between(void *context)
{
	struct profiler *profiler = context;
	uint64_t stopped = stopped_ns(profiler);

	take_all(profiler);
	return !stopped || clock_ns() - stopped < STOP_NS_MAX;
}

static void write_all(struct profiler *profiler)
{
	struct error error;
	int status =
		collector_write(profiler->collector, time(NULL), take_between, profiler, &error);

	if (status && !profiler->failed)
		message(LOG_ERR,
			"profiles are not written, and what they hold waits in memory, within "
			"bounds: %s",
			error.text);
	else if (status == 0 && profiler->failed)
		message(LOG_NOTICE, "profiles are written again");
	profiler->failed = status != 0;
}

static bool is_due(const struct profiler *profiler)
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

static void attach_waiting(struct profiler *profiler)
{
	for (size_t i = 0; i < profiler->probe_count; i++) {
		struct probe *probe = &profiler->probes[i];
		struct error error;

		if (probe->on_threshold && probe->object.bpf && probe_resume(probe, &error))
			message(LOG_ERR, "probe %s: a threshold starts no profile: %s", probe->name,
				error.text);
	}
	profiler->attached = true;
}

static void detach_waiting(struct profiler *profiler)
{
	for (size_t i = 0; i < profiler->probe_count; i++)
		if (profiler->probes[i].on_threshold && profiler->probes[i].object.bpf)
			probe_pause(&profiler->probes[i]);
	profiler->attached = false;
}

/* One that is asked for; false: there is none. */
static bool take_asked(struct profiler *profiler, char service[SUBJECT_NAME_MAX])
{
	bool any;

	pthread_mutex_lock(&profiler->lock);
	any = profiler->asked_count > 0;
	if (any)
		memcpy(service, profiler->asked[--profiler->asked_count], SUBJECT_NAME_MAX);
	pthread_mutex_unlock(&profiler->lock);
	return any;
}

static bool is_service(const struct profiler *profiler, const char *name)
{
	const struct snapshot *snapshot = services_take(profiler->services);
	bool is = snapshot_has_service(snapshot, name);

	services_release(profiler->services, snapshot);
	return is;
}

static void start_asked(struct profiler *profiler)
{
	char service[SUBJECT_NAME_MAX];

	while (take_asked(profiler, service)) {
		if (!is_service(profiler, service) ||
		    !trigger_start(&profiler->trigger, service, clock_ns()))
			continue;
		message(LOG_NOTICE, "a threshold starts a profile of %s, %llu s", service,
			(unsigned long long)(profiler->trigger.length_ns / NS_PER_S));
		if (!profiler->attached)
			attach_waiting(profiler);
	}
}

/* What the rings hold still is of the profile. */
static void end_profile(struct profiler *profiler)
{
	if (profiler->attached && !trigger_any(&profiler->trigger, clock_ns()))
		detach_waiting(profiler);
}

/* --- the thread --- */

static void step(struct profiler *profiler)
{
	start_asked(profiler);
	take_all(profiler);
	end_profile(profiler);
	if (is_due(profiler))
		write_all(profiler);
}

static void drain(int wake)
{
	uint64_t ignored;

	while (read(wake, &ignored, sizeof(ignored)) > 0)
		;
}

static void *run(void *context)
{
	struct profiler *profiler = context;
	struct pollfd *fds = calloc(profiler->ring_count + 1, sizeof(*fds));

	if (!fds)
		return NULL;
	pthread_setname_np(pthread_self(), NAME);
	fds[0] = (struct pollfd){ .fd = profiler->wake, .events = POLLIN };
	for (size_t i = 0; i < profiler->ring_count; i++)
		fds[i + 1] = (struct pollfd){
			.fd = ring_buffer__epoll_fd(profiler->rings[i].ring),
			.events = POLLIN,
		};
	while (!stopped_ns(profiler)) {
		poll(fds, profiler->ring_count + 1, LOOK_MS);
		drain(profiler->wake);
		step(profiler);
		/* A ring that was filled again without a wake-up is looked at by the clock. */
		poll(fds, profiler->ring_count + 1, 0);
		poll(fds, 1, PAUSE_MS);
	}
	take_all(profiler);
	if (collector_since(profiler->collector))
		write_all(profiler);
	free(fds);
	return NULL;
}

/* --- begin and end --- */

static int open_ring(struct profiler *profiler, struct probe *probe, const struct view *view,
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
	r->ring = ring_buffer__new(bpf_map__fd(view->ring), take, r, NULL);
	if (!r->ring)
		return error_set(error, -errno, "cannot read the ring buffer %s: %s",
				 bpf_map__name(view->ring), strerror(errno));
	profiler->ring_count++;
	return 0;
}

static int open_rings(struct profiler *profiler, struct error *error)
{
	int status = 0;

	for (size_t i = 0; i < profiler->probe_count && status == 0; i++) {
		struct probe *probe = &profiler->probes[i];

		for (size_t j = 0; j < probe->views.count && status == 0; j++)
			status = open_ring(profiler, probe, &probe->views.item[j], error);
	}
	return status;
}

static int start_thread(struct profiler *profiler, struct error *error)
{
	sigset_t all, before;
	int status;

	profiler->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (profiler->wake < 0)
		return error_set(error, -errno, "cannot make an eventfd: %s", strerror(errno));
	/* Signals are the daemon's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	status = -pthread_create(&profiler->thread, NULL, run, profiler);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (status) {
		close(profiler->wake);
		return error_set(error, status, "cannot make a thread: %s", strerror(-status));
	}
	pthread_mutex_lock(&profiler->lock);
	profiler->running = true;
	pthread_mutex_unlock(&profiler->lock);
	return 0;
}

static size_t count_rings(const struct profiler *profiler)
{
	size_t count = 0;

	for (size_t i = 0; i < profiler->probe_count; i++)
		count += profiler->probes[i].views.count;
	return count;
}

static void close_all(struct profiler *profiler)
{
	for (size_t i = 0; i < profiler->ring_count; i++)
		ring_buffer__free(profiler->rings[i].ring);
	free(profiler->rings);
	collector_free(profiler->collector);
	file_reader_done(&profiler->files);
	profiler->rings = NULL;
	profiler->ring_count = 0;
	profiler->collector = NULL;
}

int profiler_start(struct profiler *profiler, struct services *services, struct probe *probes,
		   size_t probe_count, struct error *error)
{
	const struct config *config = services->config;
	size_t count;
	int status;

	*profiler = (struct profiler){
		.services = services,
		.probes = probes,
		.probe_count = probe_count,
		.files = FILE_READER_NONE,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	count = count_rings(profiler);
	if (!count)
		return 0;
	profiler->files.symbols = config->symbol_reader;
	profiler->trigger.length_ns = config->profiles.seconds * NS_PER_S;
	profiler->rings = calloc(count, sizeof(*profiler->rings));
	status = profiler->rings ? 0 : error_set(error, -ENOMEM, "no memory for profiles");
	status = status
			 ?: collector_open(&profiler->collector, &config->profiles,
					   &profiler->files, &services->names.ksyms, error);
	status = status ?: open_rings(profiler, error);
	status = status ?: start_thread(profiler, error);
	if (status)
		close_all(profiler);
	return status;
}

static void wake(struct profiler *profiler)
{
	uint64_t one = 1;
	/* It looks by the clock, too. */
	ssize_t ignored = write(profiler->wake, &one, sizeof(one));

	(void)ignored;
}

void profiler_ask(struct profiler *profiler, const char *service)
{
	pthread_mutex_lock(&profiler->lock);
	if (profiler->running && profiler->asked_count < PROFILER_ASKED_MAX) {
		snprintf(profiler->asked[profiler->asked_count++], SUBJECT_NAME_MAX, "%s", service);
		wake(profiler);
	}
	pthread_mutex_unlock(&profiler->lock);
}

void profiler_stop(struct profiler *profiler)
{
	bool running;

	pthread_mutex_lock(&profiler->lock);
	running = profiler->running;
	profiler->running = false;
	pthread_mutex_unlock(&profiler->lock);
	if (!running)
		return;
	__atomic_store_n(&profiler->stopped_ns, clock_ns(), __ATOMIC_RELAXED);
	wake(profiler);
	pthread_join(profiler->thread, NULL);
	close(profiler->wake);
	close_all(profiler);
}
