/* SPDX-License-Identifier: MIT */
/*
 * Turns of users at having their command lines looked at. What a look costs is up to the process:
 * its command line may be slow to match, or on a file system that is slow to answer. So each user has a
 * share of a reading's time for long looks; who has used it up waits for the next reading, and
 * comes after all others there.
 */
#include "turn.h"

#include "util/clock.h"

#define LONG_LOOK_NS 500000ULL      /* ten times what most take */
#define SHARE_NS (5 * 1000000ULL)   /* of long looks, in one reading */
#define SLOW_FOR_NS (60 * NS_PER_S) /* after the share was used up */

static const struct slow_user *find(const struct turns *turns, uint32_t uid)
{
	for (size_t i = 0; i < TURN_USERS_MAX; i++)
		if (turns->users[i].uid == uid && turns->users[i].reading_ns)
			return &turns->users[i];
	return NULL;
}

/* The entry of a user, else a free one, else that of the user that was slow longest ago. */
static struct slow_user *entry_for(struct turns *turns, uint32_t uid)
{
	struct slow_user *entry = (struct slow_user *)find(turns, uid);

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
	const struct slow_user *user = find(turns, uid);

	if (uid == 0)
		return TURN_ROOT;
	return user && user->slow_ns && turns->begin_ns - user->slow_ns < SLOW_FOR_NS ? TURN_SLOW
										      : TURN_PROMPT;
}

void turns_spend(struct turns *turns, uint32_t uid, uint64_t cost_ns)
{
	struct slow_user *user;

	if (cost_ns < LONG_LOOK_NS)
		return;
	user = entry_for(turns, uid);
	if (user->reading_ns != turns->begin_ns)
		user->spent_ns = 0;
	user->reading_ns = turns->begin_ns;
	user->spent_ns += cost_ns;
	if (user->spent_ns > SHARE_NS)
		user->slow_ns = turns->begin_ns;
}

bool turns_over(const struct turns *turns, uint32_t uid)
{
	const struct slow_user *user = find(turns, uid);

	return uid != 0 && user && user->reading_ns == turns->begin_ns && user->spent_ns > SHARE_NS;
}
