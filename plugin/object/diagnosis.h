/* SPDX-License-Identifier: MIT */
#ifndef EBPF_DIAGNOSIS_H
#define EBPF_DIAGNOSIS_H

#include "cause.h"
#include "util/message.h"

/* Between these calls libbpf's messages are kept. They hold a lock: one thread at a time. */
void diagnosis_begin(void);
void diagnosis_end(void);

/* Sets the error for a step that failed since diagnosis_begin(): step, errno text, libbpf's words,
 * cause. `with`: the file that was opened, or the section whose program was attached. Returns code,
 * a negative errno or an error of libbpf. */
int diagnosis_error(enum failed_step step, const char *with, int code, struct error *error);

/* Sets the error to the cause why a program cannot be attached to a hook of this kind that the
 * configuration names, in its terms. Returns code, a negative errno of the kernel or of libbpf. */
int diagnosis_of_kind(enum hook_kind kind, int code, struct error *error);

/* The same with the name of the hook, which is in the kernel, unless the cause is of the machine. */
int diagnosis_of_hook(const struct hook *hook, int code, struct error *error);

#endif
