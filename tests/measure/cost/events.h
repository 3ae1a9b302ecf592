/* SPDX-License-Identifier: MIT */
/*
 * Events of one kind, made repeatedly by one thread, or by two that alternate, so that the CPU time of
 * the process and its children is their whole cost.
 */
#ifndef EVENTS_H
#define EVENTS_H

#include <stdbool.h>
#include <stdint.h>

/* The argument with which a program that calls make_event("exec", ...) must exit at once. */
#define EVENT_NOTHING "nothing"

/* Makes so many events of a kind. Returns false if there is no such kind. file: for open, read and
 * page; the latter two read blocks in a scattered order. */
bool make_event(const char *kind, long count, const char *file);

void stay_on(int cpu);

/* CPU time of this process and of its reaped children. */
uint64_t all_cpu_ns(void);

#endif
