/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PROCESS_ROW_H
#define EBPF_PROCESS_ROW_H

#include "lifecycle.h"
#include "util/message.h"

#include <stdint.h>

/* Rows of the processes of services with PerProcess; row 0 belongs to no process. */

/* Sizes their maps, after lifecycle_prepare() and before load. -ENOMEM, or an error of libbpf. */
int process_rows_prepare(struct lifecycle *lifecycle, struct error *error);

/* Maps the rows and reserves the names that processes will have; after lifecycle_start(). */
int process_rows_start(struct lifecycle *lifecycle, struct error *error);

/* Updates rows and subjects; now_ns of CLOCK_BOOTTIME. */
void process_rows_refresh(struct lifecycle *lifecycle, uint64_t now_ns);

#endif
