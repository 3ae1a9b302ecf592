/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CGROUP_NAME_H
#define EBPF_CGROUP_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the path of the cgroup that has this number (bpf_get_current_cgroup_id), below the root of
 * cgroup2, of which it is "root"; false: there is none, or CAP_DAC_READ_SEARCH is missing. Any thread; waits
 * for nobody. */
bool cgroup_name(uint64_t id, char *to, size_t size);

void cgroup_names_done(void);

#endif
