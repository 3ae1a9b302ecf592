/* SPDX-License-Identifier: MIT */
#ifndef EBPF_CGROUP_NAME_H
#define EBPF_CGROUP_NAME_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cgroup_names {
	pthread_mutex_t lock;
	bool is_open; /* the first look-up opens it */
	int root;     /* of cgroup2 */
};

void cgroup_names_init(struct cgroup_names *names);

/* Writes the path of the cgroup with this number (bpf_get_current_cgroup_id), relative to the root of
 * cgroup2, which itself is "root". False: there is no such cgroup, or CAP_DAC_READ_SEARCH is missing.
 * Any thread; never waits. */
bool cgroup_name(struct cgroup_names *names, uint64_t id, char *to, size_t size);

void cgroup_names_done(struct cgroup_names *names);

#endif
