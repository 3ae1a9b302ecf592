/* SPDX-License-Identifier: MIT */
#ifndef EBPF_SYMBOLS_ADDRESS_H
#define EBPF_SYMBOLS_ADDRESS_H

/* Sorted addresses. */

#include <stddef.h>
#include <stdint.h>

/* An address to be named. They are sorted, so that one pass over a table serves all of them. */
struct code_address {
	uint64_t value;
	size_t index; /* position in the request */
};

/* Sorts by value. */
void addresses_sort(struct code_address *addresses, size_t count);

/* The index of the first address that is not below the value; count: none. */
size_t addresses_from(const struct code_address *addresses, size_t count, uint64_t value);

#endif
