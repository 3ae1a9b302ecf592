/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_ADDRESS_H
#define EBPF_SYMBOLS_ADDRESS_H

#include <stddef.h>
#include <stdint.h>

/* Addresses that are asked for, in order, so that a table is read once for all of them. */
struct address {
	uint64_t value;
	size_t index; /* in what was asked */
};

void addresses_sort(struct address *addresses, size_t count);

/* The first that is not below the value; count: none. */
size_t addresses_from(const struct address *addresses, size_t count, uint64_t value);

#endif
