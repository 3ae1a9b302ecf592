/* SPDX-License-Identifier: MIT */
#ifndef EBPF_DIAGNOSIS_H
#define EBPF_DIAGNOSIS_H

#include "util/message.h"

/* What was tried with an object. */
enum diagnosis_step { DIAGNOSIS_OPEN, DIAGNOSIS_LOAD, DIAGNOSIS_ATTACH };

/* Between these two calls libbpf's words are kept, of one thread at a time. */
void diagnosis_begin(void);
void diagnosis_end(void);

/* The error of a step that failed after diagnosis_begin: step, errno text, libbpf's
 * words, remedy. `with` is the file that was opened
 * or the section whose program was attached. Returns code, a negative errno or
 * one of libbpf's own. */
int diagnosis_error(enum diagnosis_step step, const char *with, int code, struct error *error);

/* What helps where the kernel says -EPERM or -EACCES. */
const char *diagnosis_no_right(void);

#endif
