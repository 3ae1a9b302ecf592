/* SPDX-License-Identifier: MIT */
/*
 * Ranges of functions in a build without libdw: unknown.
 */
#include "unwind.h"

bool unwind_range(const struct image *image, uint64_t address, struct code_range *ret_range)
{
	(void)image;
	(void)address;
	(void)ret_range;
	return false;
}

bool unwind_is_entry(const struct image *image, uint64_t address)
{
	(void)image;
	(void)address;
	return false;
}
