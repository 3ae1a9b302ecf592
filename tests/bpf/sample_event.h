/* SPDX-License-Identifier: MIT */
#ifndef SAMPLE_EVENT_H
#define SAMPLE_EVENT_H

/* The first argument of events that are the test's own; the second is the value. */
#define SAMPLE_EVENT 0x53414d504c45ULL

#endif
