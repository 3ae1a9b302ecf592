/* SPDX-License-Identifier: MIT */
#ifndef EBPF_REASON_H
#define EBPF_REASON_H

#include "system/message.h"

/* What was tried with an object. */
enum reason_step { REASON_OPEN, REASON_LOAD, REASON_ATTACH };

/* Between these two calls libbpf's words are kept, of one thread at a time. */
void reason_begin(void);
void reason_end(void);

/* The error of a step that failed after reason_begin: step, errno text, libbpf's
 * words, remedy. `with` is the file that was opened
 * or the section whose program was attached. Returns code, a negative errno or
 * one of libbpf's own. */
int reason_error(enum reason_step step, const char *with, int code, struct error *error);

#endif
