/* SPDX-License-Identifier: MIT */
#ifndef EBPF_DIAGNOSIS_H
#define EBPF_DIAGNOSIS_H

#include "util/message.h"

/* What was tried with an object. */
enum diagnosis_step { DIAGNOSIS_OPEN, DIAGNOSIS_LOAD, DIAGNOSIS_ATTACH };

/* Between these calls libbpf's messages are kept. They hold a lock: one thread at a time. */
void diagnosis_begin(void);
void diagnosis_end(void);

/* Sets the error for a step that failed since diagnosis_begin(): step, errno text, libbpf's words,
 * remedy. `with`: the file that was opened, or the section whose program was attached. Returns
 * code, a negative errno or an error of libbpf. */
int diagnosis_error(enum diagnosis_step step, const char *with, int code, struct error *error);

/* Returns the remedy for -EPERM and -EACCES of the kernel. */
const char *diagnosis_no_right(void);

#endif
