/* SPDX-License-Identifier: MIT */
#ifndef EBPF_ONLINE_CPUS_H
#define EBPF_ONLINE_CPUS_H

#include "attach/periodic.h"
#include "probe.h"
#include "util/message.h"

/* The kernel's list of online CPUs, as in /sys; "": unavailable. */
struct online_cpus {
	char list[PERIODIC_CPUS_MAX];
};

void online_cpus_read(struct online_cpus *ret_cpus);

/* Sets what the probe and its programs know of them. */
void online_cpus_set(struct probe *probe, const struct online_cpus *cpus);

/* The same for a probe that is open, when the list has changed: what each CPU runs is attached to those
 * that came online, unless the probe is paused. Errors of attach_follow_cpus(). */
int online_cpus_follow(struct probe *probe, const struct online_cpus *cpus, struct error *error);

#endif
