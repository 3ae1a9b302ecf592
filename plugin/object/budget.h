/* SPDX-License-Identifier: MIT */
#ifndef EBPF_BUDGET_H
#define EBPF_BUDGET_H

#include "object.h"
#include "util/message.h"

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdint.h>

#define BUDGET_MIB ((uint64_t)1 << 20)

/* What all objects together may take, and have taken: bytes. */
struct budget {
	uint64_t limit;
	uint64_t used;
};

/* What an object wants, and the map that it wants most of it for. */
struct demand {
	uint64_t bytes;
	const char *largest;
	uint64_t largest_bytes;
};

/* Products and sums of sizes that others have chosen: UINT64_MAX instead of more. */
uint64_t size_product(uint64_t a, uint64_t b);
uint64_t size_sum(uint64_t a, uint64_t b);

/* What a map can take in the kernel when it is full, by what it declares; not what tasks and
 * sockets have of it. */
uint64_t demand_of_map(const struct bpf_map *map, unsigned cpus);

void demand_add(struct demand *demand, const char *map, uint64_t bytes);

/* All maps of an object that is not loaded; if it borrows, without those that it shares. */
void demand_add_maps(struct demand *demand, const struct object *object, bool borrows);

/* -ENOSPC: it is more than is left. */
int budget_take(struct budget *budget, const struct demand *demand, struct error *error);
void budget_give(struct budget *budget, uint64_t bytes);

#endif
