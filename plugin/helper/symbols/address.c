/* SPDX-License-Identifier: MIT */
/*
 * Sorts and searches addresses.
 */
#include "address.h"

/* Shellsort with Knuth's gaps: qsort() of some C libraries makes system calls that the sandbox
 * forbids. */
void addresses_sort(struct code_address *addresses, size_t count)
{
	size_t gap = 1;

	while (gap < count / 3)
		gap = 3 * gap + 1;
	for (; gap; gap /= 3)
		for (size_t i = gap; i < count; i++) {
			struct code_address address = addresses[i];
			size_t to = i;

			for (; to >= gap && addresses[to - gap].value > address.value; to -= gap)
				addresses[to] = addresses[to - gap];
			addresses[to] = address;
		}
}

size_t addresses_from(const struct code_address *addresses, size_t count, uint64_t value)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (addresses[middle].value < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
