/* SPDX-License-Identifier: MIT */
/*
 * Bounds new names per hour: each costs whoever receives its series memory or a file for good.
 */
#include "allowance.h"

#include "clock.h"

#define NS_PER_HOUR (3600 * (double)NS_PER_S)

void allowance_init(struct allowance *allowance, unsigned most)
{
	*allowance = (struct allowance){ .most = most, .left = most };
}

void allowance_fill(struct allowance *allowance, uint64_t now_ns)
{
	double left = allowance->left;

	if (allowance->filled_ns && now_ns > allowance->filled_ns)
		left += allowance->most * (double)(now_ns - allowance->filled_ns) / NS_PER_HOUR;
	allowance->filled_ns = now_ns;
	if (left > allowance->most)
		left = allowance->most;
	/* It may have more already, which is not taken away. */
	if (left > allowance->left)
		allowance->left = left;
}

bool allowance_use(struct allowance *allowance)
{
	if (allowance->left < 1)
		return false;
	allowance->left--;
	return true;
}
