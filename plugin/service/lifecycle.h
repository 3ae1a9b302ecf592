/* SPDX-License-Identifier: MIT */
#ifndef EBPF_LIFECYCLE_H
#define EBPF_LIFECYCLE_H

#include "lifecycle_state.h"
#include "util/message.h"

#include <stdint.h>

/* The part of so many rows or names that is reserved for units and containers: all if no user can make names. */
uint32_t lifecycle_reserved(const struct config *config, uint32_t count);

/* Sizes the maps of an object, before load; config and object stay the caller's. -ENOMEM, or an error of
 * libbpf. */
int lifecycle_prepare(struct lifecycle *lifecycle, const struct config *config,
		      const struct object *object, double interval_s, struct error *error);

/* Maps the kernel's rows and names those of Service blocks; after load, before attach. */
int lifecycle_start(struct lifecycle *lifecycle, struct error *error);

/* Updates names and rows of services. */
void lifecycle_refresh(struct lifecycle *lifecycle, uint64_t now_ns);

/* Names that existed when the plugin started do not wait for an interval. */
void lifecycle_accept(struct lifecycle *lifecycle);

/* A snapshot for the readings that follow; NULL: no memory. Allocated before lifecycle_refresh(), which cannot be
 * undone, and filled after it. */
struct snapshot *lifecycle_snapshot(const struct lifecycle *lifecycle);
void lifecycle_fill(const struct lifecycle *lifecycle, struct snapshot *snapshot, uint64_t now_ns);

/* The service name of a row that has a subject. */
const char *lifecycle_name(const struct lifecycle *lifecycle, uint32_t row);

/* A subject (-1: none) has lost a row at since_ns. It is forgotten when all subscribers have read so many of
 * their intervals later. */
void lifecycle_depart(struct lifecycle *lifecycle, int subject, uint64_t since_ns,
		      unsigned intervals);

/* Returns row i to the kernel, by this queue. */
void lifecycle_give_back(struct lifecycle *lifecycle, const char *queue, uint32_t i);

void lifecycle_done(struct lifecycle *lifecycle);

#endif
