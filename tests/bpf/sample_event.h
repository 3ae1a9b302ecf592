/* SPDX-License-Identifier: MIT */
#ifndef SAMPLE_EVENT_H
#define SAMPLE_EVENT_H

/* The first argument of the test's own events; the second is the value. */
#define SAMPLE_EVENT 0x53414d504c45ULL

#endif
