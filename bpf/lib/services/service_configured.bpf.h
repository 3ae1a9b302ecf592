/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Services of Service blocks, for probes that cost too much to count for all. A probe that includes
 * this is off if there is no such block.
 */
#ifndef SERVICE_CONFIGURED_BPF_H
#define SERVICE_CONFIGURED_BPF_H

#include "kernel.bpf.h"
#include "service.h"

const volatile u32 configured_end =
	SERVICE_FIRST; /* rows of Service blocks are below it; set before load */

static __always_inline bool service_configured(u32 row)
{
	return row >= SERVICE_FIRST && row < configured_end;
}

#endif
