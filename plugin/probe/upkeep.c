/* SPDX-License-Identifier: MIT */
/*
 * What readings do not wait for, in one thread, so that it needs no lock.
 *
 * There are two lanes. What is slow, because it reads symbols or has the kernel make uprobes, uses a
 * helper of its own; while that helper works, the thread does what is urgent and due, by another
 * helper: new processes get their services, and a probe that costs too much is switched off. If the
 * probe that the slow lane works for is to be switched off, its request is given up.
 */
#include "upkeep.h"

#include "attach/attachment_list.h"
#include "pause.h"
#include "util/clock.h"
#include "util/thread.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define NAME "ebpf upkeep"       /* of the thread */
#define OVERHEAD_NS NS_PER_S     /* between two checks of what probes cost */
#define SLOW_NS NS_PER_S         /* between two passes of the slow lane, if it has anything to do */
#define AGAIN_NS (NS_PER_S / 20) /* at least, until what was left unfinished goes on */
#define AGAIN_SHARE 20           /* and at least so many times the CPU time that it took */
#define HALF_NS_MAX (30 * NS_PER_S) /* between two passes over services */

static bool is_upkeep_stopped(const struct upkeep *upkeep)
{
	return __atomic_load_n(&upkeep->stopped, __ATOMIC_RELAXED);
}

static uint64_t earlier(uint64_t one_ns, uint64_t other_ns)
{
	return one_ns < other_ns ? one_ns : other_ns;
}

/* --- urgent --- */

/* Half of the shortest interval: a new process is in its service within an interval. */
static uint64_t half_interval_ns(const struct upkeep *upkeep)
{
	double least_s = upkeep->interval_s;

	for (size_t i = 0; i < upkeep->probe_count; i++)
		if (upkeep->probes[i].object.bpf && upkeep->probes[i].interval_s < least_s)
			least_s = upkeep->probes[i].interval_s;
	return earlier((uint64_t)(least_s / 2 * (double)NS_PER_S), HALF_NS_MAX);
}

static bool follow_cpus_of_probe(struct upkeep *upkeep, struct probe *probe)
{
	struct error error;

	if (!online_cpus_follow(probe, &upkeep->cpus, &error))
		return true;
	if (!upkeep->cpus_failed)
		message(LOG_ERR, "probe %s: trying again: %.900s", probe->name, error.text);
	return false;
}

/* After a failure the next list is taken to be another one. */
static void follow_cpus(struct upkeep *upkeep)
{
	bool followed = true;

	for (size_t i = 0; i < upkeep->probe_count; i++)
		if (upkeep->probes[i].object.bpf)
			followed &= follow_cpus_of_probe(upkeep, &upkeep->probes[i]);
	upkeep->cpus_failed = !followed;
	if (!followed)
		upkeep->cpus.list[0] = '\0';
}

static void follow_online_cpus(struct upkeep *upkeep)
{
	struct online_cpus now;

	online_cpus_read(&now);
	if (!strcmp(now.list, upkeep->cpus.list))
		return;
	upkeep->cpus = now;
	follow_cpus(upkeep);
}

/* What a file that hangs has kept waiting goes on soon; what CPU time has cut short, later. */
static void resolve_services(struct upkeep *upkeep, uint64_t now_ns)
{
	uint64_t half_ns = half_interval_ns(upkeep), cpu_ns = clock_cpu_ns(), again_ns;
	bool is_complete = services_resolve(upkeep->services, now_ns);

	again_ns = (clock_cpu_ns() - cpu_ns) * AGAIN_SHARE + AGAIN_NS;
	upkeep->services_due_ns = now_ns + (is_complete ? half_ns : earlier(again_ns, half_ns));
	follow_online_cpus(upkeep);
}

static void log_fits(struct upkeep *upkeep, uint64_t now_ns)
{
	resolver_log_fits(&upkeep->services->resolver);
	upkeep->fits_due_ns = now_ns + (uint64_t)(upkeep->interval_s * (double)NS_PER_S);
}

/* Passes a new sample of run statistics to the probes. */
static uint64_t sample_runs_if_due(struct upkeep *upkeep, uint64_t now_ns)
{
	uint64_t before_ns = upkeep->runs.sampled_ns;
	uint64_t due_ns = run_statistics_step(&upkeep->runs, upkeep->interval_s, now_ns);

	for (size_t i = 0; i < upkeep->probe_count && upkeep->runs.sampled_ns != before_ns; i++)
		cost_note(&upkeep->probes[i], &upkeep->runs);
	return due_ns;
}

/* Attaches a probe when a threshold wants it, and detaches it after that. */
static void follow_threshold(struct probe *probe)
{
	bool wanted = __atomic_load_n(&probe->wanted, __ATOMIC_ACQUIRE);
	struct error error;

	if (!probe->on_threshold || !probe->object.bpf || wanted != probe->paused)
		return;
	if (!wanted) {
		probe_pause(probe);
	} else if (probe_resume(probe, &error)) {
		message(LOG_ERR, "probe %s: a threshold starts no profile: %s", probe->name,
			error.text);
		__atomic_store_n(&probe->wanted, false, __ATOMIC_RELAXED);
	}
}

/* Those without files to attach to: nothing of theirs can wait. */
static void follow_thresholds(struct upkeep *upkeep)
{
	for (size_t i = 0; i < upkeep->probe_count; i++)
		if (!attachments_any(&upkeep->probes[i].object))
			follow_threshold(&upkeep->probes[i]);
}

static void do_urgent(struct upkeep *upkeep, uint64_t now_ns)
{
	follow_thresholds(upkeep);
	if (now_ns >= upkeep->services_due_ns)
		resolve_services(upkeep, now_ns);
	if (now_ns >= upkeep->fits_due_ns)
		log_fits(upkeep, now_ns);
	if (now_ns >= upkeep->overhead_due_ns) {
		overhead_step(&upkeep->overhead, now_ns);
		upkeep->overhead_due_ns =
			upkeep->overhead.count ? now_ns + OVERHEAD_NS : UINT64_MAX;
	}
	upkeep->urgent_due_ns = sample_runs_if_due(upkeep, now_ns);
	upkeep->urgent_due_ns = earlier(upkeep->urgent_due_ns, upkeep->services_due_ns);
	upkeep->urgent_due_ns = earlier(upkeep->urgent_due_ns, upkeep->fits_due_ns);
	upkeep->urgent_due_ns = earlier(upkeep->urgent_due_ns, upkeep->overhead_due_ns);
}

/* While the slow lane waits. true: it must not wait any longer. */
static bool urgent_meanwhile(void *of)
{
	struct upkeep *upkeep = of;
	uint64_t now_ns = clock_ns();

	if (is_upkeep_stopped(upkeep))
		return true;
	if (now_ns >= upkeep->urgent_due_ns)
		do_urgent(upkeep, now_ns);
	else
		follow_thresholds(upkeep); /* what wakes the thread when it does not wait here */
	return is_upkeep_stopped(upkeep) || upkeep->overhead.wants_busy;
}

/* While the urgent lane waits. */
static bool stopped_meanwhile(void *of)
{
	return is_upkeep_stopped(of);
}

/* --- slow --- */

/* A file that a program is attached to may have been replaced. */
static void check_attachments(struct probe *probe)
{
	struct file_finder finder = probe_file_finder(probe);

	if (!probe->paused)
		attachments_check(&probe->object, probe->name, &finder);
}

static void do_slow_for_probe(struct upkeep *upkeep, struct probe *probe)
{
	if (!probe->object.bpf)
		return;
	overhead_set_busy(&upkeep->overhead, probe);
	follow_threshold(probe);
	check_attachments(probe);
	/* What it was too busy for is done at once: otherwise it might be busy again by then. */
	if (upkeep->overhead.wants_busy)
		upkeep->overhead_due_ns = upkeep->urgent_due_ns = 0;
	overhead_set_busy(&upkeep->overhead, NULL);
}

static void do_slow(struct upkeep *upkeep, uint64_t now_ns)
{
	overhead_resume(&upkeep->overhead, now_ns);
	for (size_t i = 0; i < upkeep->probe_count && !is_upkeep_stopped(upkeep); i++)
		do_slow_for_probe(upkeep, &upkeep->probes[i]);
	file_helper_refresh(upkeep->services->probe_files);
	file_helper_refresh(upkeep->services->resolver.files);
}

uint64_t upkeep_step(struct upkeep *upkeep, uint64_t now_ns)
{
	if (now_ns >= upkeep->urgent_due_ns)
		do_urgent(upkeep, now_ns);
	do_slow(upkeep, now_ns);
	return upkeep->any_slow ? earlier(upkeep->urgent_due_ns, now_ns + SLOW_NS)
				: upkeep->urgent_due_ns;
}

/* --- the thread --- */

static int milliseconds_until(uint64_t due_ns)
{
	uint64_t now_ns = clock_ns();

	return due_ns <= now_ns ? 0 : (int)((due_ns - now_ns) / (NS_PER_S / 1000)) + 1;
}

static void *run_upkeep(void *context)
{
	struct upkeep *upkeep = context;
	struct pollfd wake = { .fd = upkeep->wake, .events = POLLIN };

	pthread_setname_np(pthread_self(), NAME);
	while (!is_upkeep_stopped(upkeep)) {
		uint64_t due_ns = upkeep_step(upkeep, clock_ns()), ignored;

		if (poll(&wake, 1, milliseconds_until(due_ns)) > 0 &&
		    read(upkeep->wake, &ignored, sizeof(ignored)) > 0)
			upkeep->urgent_due_ns = 0;
	}
	return NULL;
}

static int add_programs(struct upkeep *upkeep)
{
	int status = run_statistics_add(&upkeep->runs, UPKEEP_SERVICES, &upkeep->services->object);

	for (size_t i = 0; i < upkeep->probe_count && status == 0; i++) {
		struct probe *probe = &upkeep->probes[i];

		if (!probe->object.bpf)
			continue;
		upkeep->any_slow |= attachments_any(&probe->object);
		status = run_statistics_add(&upkeep->runs, probe->name, &probe->object);
	}
	upkeep->any_slow |= upkeep->overhead.count > 0;
	return status;
}

static void use_helpers(struct upkeep *upkeep)
{
	struct file_helper *slow = upkeep->services->probe_files;
	struct file_helper *urgent = upkeep->services->resolver.files;

	slow->meanwhile = urgent_meanwhile;
	urgent->meanwhile = stopped_meanwhile;
	slow->meanwhile_of = urgent->meanwhile_of = upkeep;
}

static void stop_using_helpers(struct upkeep *upkeep)
{
	upkeep->services->probe_files->meanwhile = NULL;
	upkeep->services->resolver.files->meanwhile = NULL;
}

int upkeep_open(struct upkeep *upkeep, struct services *services, struct probe *probes,
		size_t probe_count, double interval_s, overhead_notify *notify)
{
	int status;

	*upkeep = (struct upkeep){
		.services = services,
		.probes = probes,
		.probe_count = probe_count,
		.interval_s = interval_s,
		.wake = -1,
	};
	run_statistics_init(&upkeep->runs, clock_ns());
	online_cpus_read(&upkeep->cpus);
	status = overhead_open(&upkeep->overhead, probes, probe_count,
			       services->config->max_overhead, notify, clock_ns());
	status = status ?: add_programs(upkeep);
	if (status == 0)
		use_helpers(upkeep);
	return status;
}

int upkeep_start(struct upkeep *upkeep)
{
	int status;

	upkeep->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (upkeep->wake < 0)
		return -errno;
	status = thread_start(&upkeep->thread, run_upkeep, upkeep);
	upkeep->running = status == 0;
	return status;
}

void upkeep_wake(struct upkeep *upkeep)
{
	uint64_t one = 1;
	/* Without it the thread notices within a second. */
	ssize_t ignored = write(upkeep->wake, &one, sizeof(one));

	(void)ignored;
}

void upkeep_stop(struct upkeep *upkeep)
{
	__atomic_store_n(&upkeep->stopped, true, __ATOMIC_RELAXED);
	if (upkeep->running) {
		upkeep_wake(upkeep);
		pthread_join(upkeep->thread, NULL);
	}
	if (upkeep->services)
		stop_using_helpers(upkeep);
	if (upkeep->wake >= 0)
		close(upkeep->wake);
	overhead_done(&upkeep->overhead);
	run_statistics_done(&upkeep->runs);
	*upkeep = (struct upkeep){ .wake = -1 };
}
