/* SPDX-License-Identifier: MIT */
#ifndef EBPF_TABLE_MISTAKE_H
#define EBPF_TABLE_MISTAKE_H

#include "probe.h"

/* Logs Rows, Label lines and Table blocks of an open probe that fit none of its tables. */
void table_mistakes_log(const struct probe *probe);

#endif
