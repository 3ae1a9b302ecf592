/* SPDX-License-Identifier: MIT */
/*
 * Quotas of users for the inspection of their command lines. The process decides what an inspection costs: its
 * command line may be slow to match, or lie on a file system that is slow to respond. So each user has a
 * quota of a reading's time for long inspections. A user that has used it up continues in the next reading,
 * after all other users.
 */
#include "turn.h"

#include "util/clock.h"

#define LONG_INSPECTION_NS 500000ULL /* ten times what most cost */
#define QUOTA_NS (5 * 1000000ULL)    /* for long inspections, in one reading */
#define SLOW_FOR_NS (60 * NS_PER_S)  /* after the quota was used up */

static const struct slow_user *find_slow_user(const struct turns *turns, uint32_t uid)
{
	for (size_t i = 0; i < TURN_USERS_MAX; i++)
		if (turns->users[i].uid == uid && turns->users[i].reading_ns)
			return &turns->users[i];
	return NULL;
}

/* The entry of a user, else a free one, else the one whose user was slow longest ago. */
static struct slow_user *claim_slow_user(struct turns *turns, uint32_t uid)
{
	struct slow_user *entry = (struct slow_user *)find_slow_user(turns, uid);

	if (entry)
		return entry;
	entry = &turns->users[0];
	for (size_t i = 1; i < TURN_USERS_MAX; i++)
		if (turns->users[i].reading_ns < entry->reading_ns)
			entry = &turns->users[i];
	*entry = (struct slow_user){ .uid = uid };
	return entry;
}

void turns_begin(struct turns *turns, uint64_t now_ns)
{
	turns->begin_ns = now_ns;
}

enum turn turns_of(const struct turns *turns, uint32_t uid)
{
	const struct slow_user *user = find_slow_user(turns, uid);

	if (uid == 0)
		return TURN_ROOT;
	return user && user->slow_ns && turns->begin_ns - user->slow_ns < SLOW_FOR_NS ? TURN_SLOW
										      : TURN_PROMPT;
}

void turns_spend(struct turns *turns, uint32_t uid, uint64_t cost_ns)
{
	struct slow_user *user;

	if (cost_ns < LONG_INSPECTION_NS)
		return;
	user = claim_slow_user(turns, uid);
	if (user->reading_ns != turns->begin_ns)
		user->spent_ns = 0;
	user->reading_ns = turns->begin_ns;
	user->spent_ns += cost_ns;
	if (user->spent_ns > QUOTA_NS)
		user->slow_ns = turns->begin_ns;
}

bool turns_over(const struct turns *turns, uint32_t uid)
{
	const struct slow_user *user = find_slow_user(turns, uid);

	return uid != 0 && user && user->reading_ns == turns->begin_ns && user->spent_ns > QUOTA_NS;
}
