/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The counters of hot.bpf.h, as programs and the engine see them. Included by both sides.
 */
#ifndef RUN_COUNTER_H
#define RUN_COUNTER_H

#define HOT_PROGRAMS_MAX 64 /* of an object */

#endif
