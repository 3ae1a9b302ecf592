/* SPDX-License-Identifier: MIT */
/*
 * Which subscriber has read how far. A row that is to be reused does not wait for a subscriber that reads
 * rarely or not at all: the tables of that one are brought up to date, and its next reading dispatches what
 * they have.
 */
#include "subscriber.h"

#include "util/clock.h"

#include <errno.h>
#include <stdlib.h>

int subscribers_add(struct subscribers *subscribers, double interval_s, bool (*catch_up)(void *of),
		    void *of)
{
	struct subscriber subscriber = {
		.interval_ns = (uint64_t)(interval_s * NS_PER_S),
		.catch_up = catch_up,
		.of = of,
		.used = true,
	};
	struct subscriber *grown;

	for (size_t i = 0; i < subscribers->count; i++)
		if (!subscribers->item[i].used) {
			subscribers->item[i] = subscriber;
			return (int)i;
		}
	grown = reallocarray(subscribers->item, subscribers->count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	subscribers->item = grown;
	grown[subscribers->count] = subscriber;
	return (int)subscribers->count++;
}

void subscribers_remove(struct subscribers *subscribers, int subscriber)
{
	if (subscriber >= 0)
		subscribers->item[subscriber].used = false;
}

void subscribers_begin(struct subscribers *subscribers, int subscriber, uint64_t snapshot_ns)
{
	if (subscriber >= 0)
		subscribers->item[subscriber].snapshot_ns = snapshot_ns;
}

void subscribers_catch_up(struct subscribers *subscribers, int subscriber, uint64_t begin_ns)
{
	struct subscriber *s = &subscribers->item[subscriber];

	if (s->seen_ns < begin_ns)
		s->seen_ns = begin_ns;
	s->late = false;
}

void subscribers_read(struct subscribers *subscribers, int subscriber, uint64_t begin_ns)
{
	if (subscriber < 0)
		return;
	subscribers->item[subscriber].snapshot_ns = 0;
	if (!begin_ns)
		return;
	subscribers_catch_up(subscribers, subscriber, begin_ns);
	subscribers->item[subscriber].read_ns = begin_ns;
}

bool subscribers_any_late(const struct subscribers *subscribers)
{
	for (size_t i = 0; i < subscribers->count; i++)
		if (subscribers->item[i].used && subscribers->item[i].late)
			return true;
	return false;
}

bool subscribers_have_read(const struct subscribers *subscribers, uint64_t time_ns,
			   unsigned intervals)
{
	for (size_t i = 0; i < subscribers->count; i++) {
		const struct subscriber *s = &subscribers->item[i];

		if (s->used && s->read_ns <= time_ns + intervals * s->interval_ns)
			return false;
	}
	return true;
}

bool subscribers_have_seen(struct subscribers *subscribers, uint64_t time_ns, uint64_t now_ns,
			   uint64_t interval_ns)
{
	bool late = now_ns - time_ns > interval_ns + interval_ns / 4;
	bool all = true;

	for (size_t i = 0; i < subscribers->count; i++) {
		struct subscriber *s = &subscribers->item[i];

		if (!s->used || s->seen_ns > time_ns || (late && !s->catch_up))
			continue;
		s->late |= late;
		all = false;
	}
	return all;
}

bool subscribers_have_left(const struct subscribers *subscribers, uint64_t time_ns)
{
	for (size_t i = 0; i < subscribers->count; i++) {
		const struct subscriber *s = &subscribers->item[i];

		if (s->used && s->snapshot_ns && s->snapshot_ns < time_ns)
			return false;
	}
	return true;
}

void subscribers_done(struct subscribers *subscribers)
{
	free(subscribers->item);
	*subscribers = (struct subscribers){ 0 };
}
