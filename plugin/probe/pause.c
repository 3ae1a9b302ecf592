/* SPDX-License-Identifier: MIT */
/*
 * A paused probe stays loaded and is not attached: it costs nothing, and resumes without a load.
 * What its programs had started to measure before the pause is never finished. They compare start times
 * with `attached_ns` to discard it.
 */
#include "pause.h"

#include "attach/attach.h"
#include "service/service_process.h"
#include "util/clock.h"

#include <string.h>

static void set_probe_paused(struct probe *probe, bool paused)
{
	__atomic_store_n(&probe->paused, paused, __ATOMIC_RELAXED);
}

void probe_pause(struct probe *probe)
{
	pthread_mutex_lock(&probe->reading);
	attach_undo(&probe->object);
	run_counters_pause(&probe->run_counters);
	set_probe_paused(probe, true);
	pthread_mutex_unlock(&probe->reading);
}

void probe_pause_function(struct probe *probe, uint32_t function)
{
	pthread_mutex_lock(&probe->reading);
	attachments_pause(&probe->object, functions_part(function));
	pthread_mutex_unlock(&probe->reading);
}

int probe_resume_function(struct probe *probe, uint32_t function, struct error *error)
{
	struct resolver *resolver = &probe->services->resolver;
	struct file_finder finder = service_process_finder(resolver);
	int status;

	pthread_mutex_lock(&probe->reading);
	status = functions_restart(probe->functions, function, clock_monotonic_ns());
	if (status) {
		error_set(error, status, "cannot set the time from which its programs measure: %s",
			  strerror(-status));
	} else {
		pthread_mutex_lock(&resolver->lock);
		status = attachments_resume(&probe->object, functions_part(function), probe->name,
					    &finder, error);
		pthread_mutex_unlock(&resolver->lock);
	}
	pthread_mutex_unlock(&probe->reading);
	return status;
}

int probe_resume(struct probe *probe, struct error *error)
{
	struct resolver *resolver = &probe->services->resolver;
	struct file_finder finder = service_process_finder(resolver);
	int status;

	pthread_mutex_lock(&probe->reading);
	object_set(&probe->object, "attached_ns", clock_monotonic_ns());
	pthread_mutex_lock(&resolver->lock); /* attach_again() may use its file helper */
	status = attach_again(&probe->object, probe->name, &finder, error);
	pthread_mutex_unlock(&resolver->lock);
	if (status == 0) {
		probe->resumed = true;
		set_probe_paused(probe, false);
	}
	pthread_mutex_unlock(&probe->reading);
	return status;
}
