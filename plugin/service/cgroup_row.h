/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CGROUP_ROW_H
#define EBPF_CGROUP_ROW_H

#include <stdint.h>

struct object;

/* From now on this object's maps are asked, the engine's own; NULL: none. */
void cgroup_rows_of(const struct object *object);

/* The row of the service that the cgroup of this number belongs to, as service_of_group() in
 * service_group.bpf.h finds it, or SERVICE_OTHER: its processes are of several, of none, or there was none
 * of late. Any thread. */
uint32_t cgroup_row(uint64_t cgroup);

#endif
