/* SPDX-License-Identifier: MIT */
/*
 * CPUs come online and go offline while collectd runs.
 */
#include "online_cpus.h"

#include "attach/attach.h"
#include "util/kernel_file.h"

#include <string.h>
#include <unistd.h>

void online_cpus_read(struct online_cpus *ret_cpus)
{
	periodic_list_online(ret_cpus->list);
}

/* The highest number in the list plus one. */
static uint64_t online_cpus_end(const struct online_cpus *cpus)
{
	uint32_t end = kernel_file_cpus_end(cpus->list, strlen(cpus->list));

	return end ? end : (uint64_t)libbpf_num_possible_cpus();
}

void online_cpus_set(struct probe *probe, const struct online_cpus *cpus)
{
	uint64_t online = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);

	__atomic_store_n(&probe->cpus_online, online, __ATOMIC_RELAXED);
	object_set(&probe->object, "cpus_online", online);
	object_set(&probe->object, "cpus_end", online_cpus_end(cpus));
}

int online_cpus_follow(struct probe *probe, const struct online_cpus *cpus, struct error *error)
{
	online_cpus_set(probe, cpus);
	if (probe->paused || !cpus->list[0])
		return 0;
	return attach_follow_cpus(&probe->object, probe->name, cpus->list, error);
}
