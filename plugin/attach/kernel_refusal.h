/* SPDX-License-Identifier: MIT */
#ifndef EBPF_KERNEL_REFUSAL_H
#define EBPF_KERNEL_REFUSAL_H

#include "config/point.h"
#include "util/message.h"

/* Why nothing can be attached to a function, tracepoint or event of the kernel, in the words of who has named
 * it, and what helps. Returns status, a negative errno of the kernel or of libbpf. */
int kernel_refusal(const struct point *point, int status, struct error *error);

#endif
