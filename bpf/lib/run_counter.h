/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Limits of the run counters, see run_counter.bpf.h. Included by both sides.
 */
#ifndef RUN_COUNTER_H
#define RUN_COUNTER_H

#define RUN_COUNTERS_MAX 64 /* of an object */

#endif
