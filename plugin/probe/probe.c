/* SPDX-License-Identifier: MIT */
/*
 * What is known about a probe that runs.
 */
#include "probe.h"

#include "service/service_process.h"

uint32_t probe_services_unassigned(const struct probe *probe)
{
	uint32_t most = 0;

	for (size_t i = 0; i < probe->table_count; i++) {
		uint32_t count =
			__atomic_load_n(&probe->tables[i].slots.unassigned, __ATOMIC_RELAXED);

		most = count > most ? count : most;
	}
	return most;
}

struct file_finder probe_file_finder(struct probe *probe)
{
	return service_process_finder(&probe->services->resolver, probe->services->probe_files);
}
