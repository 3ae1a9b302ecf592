/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PUBLICATION_H
#define EBPF_PUBLICATION_H

#include "batch.h"
#include "dispatch.h"
#include "probe/reading.h"

/* The output of one probe's readings: its values are collected, and dispatched when the reading is over. */
struct publication {
	struct reading_output output;
	struct dispatch dispatch;
	struct batch batch;
};

void publication_init(struct publication *publication);

#endif
