/* SPDX-License-Identifier: MIT */
/*
 * A bound on what people are told: a loop of kills would fill a mailbox in a night.
 */
#include "limit.h"

static void credit(struct limit *limit, uint64_t now_ns)
{
	uint64_t periods = (now_ns - limit->credited_ns) / LIMIT_PERIOD_NS;

	if (periods >= limit->used) {
		limit->used = 0;
		limit->credited_ns = now_ns;
		return;
	}
	limit->used -= (unsigned)periods;
	limit->credited_ns += periods * LIMIT_PERIOD_NS;
}

static bool take(struct limit *limit, uint64_t now_ns, uint64_t *ret_held)
{
	credit(limit, now_ns);
	if (limit->used == LIMIT_BURST)
		return false;
	limit->used++;
	*ret_held = limit->held;
	limit->held = 0;
	return true;
}

bool limit_pass(struct limit *limit, uint64_t now_ns, uint64_t *ret_held)
{
	if (take(limit, now_ns, ret_held))
		return true;
	limit->held++;
	return false;
}

bool limit_release(struct limit *limit, uint64_t now_ns, uint64_t *ret_held)
{
	return limit->held && take(limit, now_ns, ret_held);
}

uint64_t limit_due(const struct limit *limit)
{
	return limit->held ? limit->credited_ns + LIMIT_PERIOD_NS : UINT64_MAX;
}
