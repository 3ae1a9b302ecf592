/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SELF_H
#define EBPF_SELF_H

#include "probe.h"
#include "service.h"

#include <stddef.h>

/* Dispatches what the plugin itself costs and how it is, under "ebpf-self".
 * Sleeps for the moment in which the kernel times the BPF programs. */
void self_read(struct dispatch *dispatch, struct services *services, struct probe *probes,
	       size_t probe_count, double interval_s);

#endif
