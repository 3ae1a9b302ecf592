/* SPDX-License-Identifier: MIT */
#ifndef EBPF_HEALTH_H
#define EBPF_HEALTH_H

/* What a notification says of a series. */
enum health { HEALTH_OKAY, HEALTH_WARNING, HEALTH_FAILURE };

#endif
