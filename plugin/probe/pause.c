/* SPDX-License-Identifier: MIT */
/*
 * A paused probe stays loaded and is not attached: it costs nothing, and resumes without a load.
 * Readings go on meanwhile: they find the flag at their start.
 */
#include "pause.h"

#include "attach/attach.h"
#include "service/service_process.h"
#include "util/clock.h"

#include <string.h>

void probe_void_state(struct probe *probe)
{
	object_set(&probe->object, "attached_ns", clock_monotonic_ns());
}

void probe_pause(struct probe *probe)
{
	attach_undo(&probe->object);
	run_counters_pause(&probe->run_counters);
	__atomic_store_n(&probe->paused, true, __ATOMIC_RELEASE);
}

void probe_pause_function(struct probe *probe, uint32_t function)
{
	attachments_pause(&probe->object, functions_part(function));
}

int probe_resume_function(struct probe *probe, uint32_t function, struct error *error)
{
	struct file_finder finder = probe_file_finder(probe);
	int status = functions_restart(probe->functions, function, clock_monotonic_ns());

	if (status)
		return error_set(error, status,
				 "cannot set the time from which its programs measure: %s",
				 strerror(-status));
	return attachments_resume(&probe->object, functions_part(function), probe->name, &finder,
				  error);
}

int probe_resume(struct probe *probe, struct error *error)
{
	struct file_finder finder = probe_file_finder(probe);
	int status;

	probe_void_state(probe);
	status = attach_again(&probe->object, probe->name, &finder, error);
	if (status)
		return status;
	probe_void_state(probe);
	__atomic_store_n(&probe->resumed, true, __ATOMIC_RELAXED);
	__atomic_store_n(&probe->paused, false, __ATOMIC_RELEASE);
	return 0;
}
