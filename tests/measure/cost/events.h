/* SPDX-License-Identifier: MIT */
/*
 * Events that can be made over and over, one kind each: by one thread, or by two that take turns,
 * so that the CPU time of the process and its children is all that they take.
 */
#ifndef EVENTS_H
#define EVENTS_H

#include <stdbool.h>
#include <stdint.h>

/* What a program that calls make_event("exec", ...) is to leave main() at once for. */
#define EVENT_NOTHING "nothing"

/* Makes so many of a kind; false: there is no such kind. file: for open, read and
 * page; these two take blocks from all over it. */
bool make_event(const char *kind, long count, const char *file);

void stay_on(int cpu);

/* CPU time of this process and of its children that have ended. */
uint64_t all_cpu_ns(void);

#endif
