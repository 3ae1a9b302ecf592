/* SPDX-License-Identifier: MIT */
#ifndef EBPF_PUBLICATION_H
#define EBPF_PUBLICATION_H

#include "batch.h"
#include "dispatch.h"
#include "probe/reading.h"

/* The output of one probe's readings: collects the values of a reading, and dispatches them when it
 * is finished. */
struct publication {
	struct reading_output output;
	struct dispatch dispatch;
	struct batch batch;
};

void publication_init(struct publication *publication);

#endif
