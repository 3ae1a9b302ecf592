/* SPDX-License-Identifier: MIT */
/*
 * Programs whose runs are counted, without an object: only this file sets their members.
 */
#ifndef FAKE_RUN_COUNTER_H
#define FAKE_RUN_COUNTER_H

#include "plugin/probe/run_counter.h"

#define NO_COUNTER (-1)

/* A program of which nothing is measured yet; `number` is that of its counter, or NO_COUNTER. */
static inline struct counted_program program_of(int fd, int number, unsigned hook_ns,
						uint64_t body_ns)
{
	return (struct counted_program){ .fd = fd,
					 .number = number,
					 .hook_ns = hook_ns,
					 .body_ns = body_ns,
					 .rate = RUN_RATE_UNKNOWN };
}

/* The measured costs of a hook and of a run. */
static inline void set_program_costs(struct counted_program *program, unsigned hook_ns,
				     uint64_t body_ns)
{
	program->hook_ns = hook_ns;
	program->body_ns = body_ns;
}

/* The caller owns the programs. */
static inline struct run_counters counters_of(struct counted_program *programs, size_t count,
					      int map)
{
	return (struct run_counters){ .programs = programs, .count = count, .map = map, .cpus = 1 };
}

#endif
