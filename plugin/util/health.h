/* SPDX-License-Identifier: MIT */
#ifndef EBPF_HEALTH_H
#define EBPF_HEALTH_H

/* The state of a series, as a notification says it. */
enum health { HEALTH_OKAY, HEALTH_WARNING, HEALTH_FAILURE };

#endif
