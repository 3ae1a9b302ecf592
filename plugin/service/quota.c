/* SPDX-License-Identifier: MIT */
/*
 * Quotas of users for the inspection of their command lines and containers. The user decides what an inspection
 * costs: a command line may be slow to match, a file may be long, or on a file system that is slow to respond.
 * So each user has a quota of a run's time for long inspections. A user that has used it up continues in the
 * next run, after all other users.
 */
#include "quota.h"

#include "util/clock.h"

#define LONG_INSPECTION_NS 500000ULL   /* ten times what most cost */
#define LONG_WAIT_NS (50 * 1000000ULL) /* of one inspection; a longer wait counts as cost */
#define QUOTA_NS (5 * 1000000ULL)      /* for long inspections, in one run of the resolver */
#define SLOW_FOR_NS (60 * NS_PER_S)    /* after the quota was used up */

static const struct slow_user *find_slow_user(const struct quotas *quotas, uint32_t uid)
{
	for (size_t i = 0; i < QUOTA_USERS_MAX; i++)
		if (quotas->users[i].uid == uid && quotas->users[i].run_ns)
			return &quotas->users[i];
	return NULL;
}

/* The entry of a user, else a free one, else the one whose user was slow longest ago. */
static struct slow_user *claim_slow_user(struct quotas *quotas, uint32_t uid)
{
	struct slow_user *entry = (struct slow_user *)find_slow_user(quotas, uid);

	if (entry)
		return entry;
	entry = &quotas->users[0];
	for (size_t i = 1; i < QUOTA_USERS_MAX; i++)
		if (quotas->users[i].run_ns < entry->run_ns)
			entry = &quotas->users[i];
	*entry = (struct slow_user){ .uid = uid };
	return entry;
}

void quotas_start(struct quotas *quotas, uint64_t now_ns)
{
	quotas->begin_ns = now_ns;
}

enum quota_pass quotas_pass_of(const struct quotas *quotas, uint32_t uid)
{
	const struct slow_user *user = find_slow_user(quotas, uid);

	if (uid == 0)
		return QUOTA_PASS_ROOT;
	return user && user->slow_ns && quotas->begin_ns - user->slow_ns < SLOW_FOR_NS
		       ? QUOTA_PASS_SLOW
		       : QUOTA_PASS_PROMPT;
}

struct inspection_start inspection_begin(void)
{
	return (struct inspection_start){ clock_ns(), clock_cpu_ns() };
}

uint64_t inspection_cost(const struct inspection_start *inspection)
{
	uint64_t waited_ns = clock_ns() - inspection->begin_ns;

	return waited_ns > LONG_WAIT_NS ? waited_ns : clock_cpu_ns() - inspection->begin_cpu_ns;
}

void quotas_spend(struct quotas *quotas, uint32_t uid, uint64_t cost_ns)
{
	struct slow_user *user;

	if (cost_ns < LONG_INSPECTION_NS)
		return;
	user = claim_slow_user(quotas, uid);
	if (user->run_ns != quotas->begin_ns)
		user->spent_ns = 0;
	user->run_ns = quotas->begin_ns;
	user->spent_ns += cost_ns;
	if (user->spent_ns > QUOTA_NS)
		user->slow_ns = quotas->begin_ns;
}

bool quotas_are_used_up(const struct quotas *quotas, uint32_t uid)
{
	const struct slow_user *user = find_slow_user(quotas, uid);

	return uid != 0 && user && user->run_ns == quotas->begin_ns && user->spent_ns > QUOTA_NS;
}
