/* SPDX-License-Identifier: MIT */
#ifndef EBPF_BUDGET_H
#define EBPF_BUDGET_H

#include "object.h"
#include "util/message.h"

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdint.h>

#define BUDGET_MIB ((uint64_t)1 << 20)

/* Memory that all objects together may use, and what is reserved: bytes. */
struct budget {
	uint64_t limit;
	uint64_t used;
};

/* Memory that an object needs, and its largest map. */
struct demand {
	uint64_t bytes;
	const char *largest;
	uint64_t largest_bytes;
};

/* Product and sum of sizes from foreign files; UINT64_MAX on overflow. */
uint64_t size_product(uint64_t a, uint64_t b);
uint64_t size_sum(uint64_t a, uint64_t b);

/* Returns the memory of a map that is full, by its declaration; without what tasks and sockets have
 * of it. */
uint64_t demand_of_map(const struct bpf_map *map, unsigned cpus);

void demand_add(struct demand *demand, const char *map, uint64_t bytes);

/* Adds all maps of an object that is not loaded. `borrows`: the object gets its shared maps from
 * another one, so these are not counted. */
void demand_add_maps(struct demand *demand, const struct object *object, bool borrows);

/* Reserves the memory. -ENOSPC: more is needed than is left. */
int budget_reserve(struct budget *budget, const struct demand *demand, struct error *error);
void budget_release(struct budget *budget, uint64_t bytes);

#endif
