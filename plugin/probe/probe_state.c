/* SPDX-License-Identifier: MIT */
/*
 * What is known about a probe that runs.
 */
#include "probe_state.h"

uint32_t probe_services_waiting(const struct probe *probe)
{
	uint32_t most = 0;

	for (size_t i = 0; i < probe->table_count; i++) {
		uint32_t count = __atomic_load_n(&probe->tables[i].slots.waiting, __ATOMIC_RELAXED);

		most = count > most ? count : most;
	}
	return most;
}
