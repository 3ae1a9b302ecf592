/* SPDX-License-Identifier: MIT */
/*
 * Inlined functions in a build without libdw: none.
 */
#include "inlined.h"

const bool inlined_is_there = false;

void inlined_name(const struct image *image, const struct code_address *addresses, size_t count,
		  struct naming *namings)
{
	(void)image;
	(void)addresses;
	(void)count;
	(void)namings;
}

bool inlined_has(const struct image *image)
{
	(void)image;
	return false;
}
