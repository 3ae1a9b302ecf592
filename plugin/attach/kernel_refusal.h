/* SPDX-License-Identifier: MIT */
#ifndef EBPF_KERNEL_REFUSAL_H
#define EBPF_KERNEL_REFUSAL_H

#include "config/hook.h"
#include "util/message.h"

/* Sets the error: why a program cannot be attached to this function, tracepoint or event of the
 * kernel, and what to do, in terms of the configuration. Returns status, a negative errno of the
 * kernel or of libbpf. */
int kernel_refusal(const struct hook *hook, int status, struct error *error);

#endif
