/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CGROUP_ROW_H
#define EBPF_CGROUP_ROW_H

#include <stdint.h>

struct object;

/* Maps of the engine's own object. */
struct cgroup_rows {
	int groups, names; /* descriptors, which stay the object's; -1: none */
};

/* After load; the object outlives it. */
void cgroup_rows_init(struct cgroup_rows *rows, const struct object *object);

/* The row of the service that the cgroup with this number belongs to, as service_of_group() in
 * service_group.bpf.h finds it. SERVICE_OTHER: its processes belong to several services or to none, or it
 * has had none lately. Any thread. */
uint32_t cgroup_row(const struct cgroup_rows *rows, uint64_t cgroup);

#endif
