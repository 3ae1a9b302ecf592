/* SPDX-License-Identifier: MIT */
/*
 * Limits how often notifications are sent: a loop of kills would fill a mailbox in a night. A
 * subject with many events does not suppress those of others.
 */
#include "limit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void credit_periods(struct limit *limit, uint64_t now_ns)
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

static bool pass_common_limit(struct limit *limit, uint64_t now_ns)
{
	credit_periods(limit, now_ns);
	if (limit->used == LIMIT_BURST)
		return false;
	limit->used++;
	return true;
}

/* Was nothing sent about this subject for a period? */
static bool is_source_due(const struct limit_source *source, uint64_t now_ns)
{
	return !source->sent_ns || now_ns >= source->sent_ns + LIMIT_PERIOD_NS;
}

static bool pass_limit(struct limit *limit, struct limit_source *source, uint64_t now_ns,
		       uint64_t *ret_suppressed)
{
	if (!pass_common_limit(limit, now_ns) && !is_source_due(source, now_ns))
		return false;
	source->sent_ns = now_ns;
	*ret_suppressed = source->suppressed;
	source->suppressed = 0;
	return true;
}

static struct limit_source *add_limit_source(struct limit *limit)
{
	struct limit_source *grown;

	if (limit->count == LIMIT_SOURCES_MAX)
		return NULL;
	grown = reallocarray(limit->sources, limit->count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	limit->sources = grown;
	return &grown[limit->count++];
}

/* Returns the entry of a subject. A new subject gets an entry that has nothing suppressed and is
 * due, or a new one, or else the common one. */
static struct limit_source *limit_source_of(struct limit *limit, const char *subject,
					    uint64_t now_ns)
{
	struct limit_source *found = NULL;

	for (size_t i = 0; i < limit->count; i++) {
		struct limit_source *source = &limit->sources[i];

		if (!strcmp(source->subject, subject))
			return source;
		if (!source->suppressed && is_source_due(source, now_ns))
			found = source;
	}
	found = found ?: add_limit_source(limit);
	if (!found)
		found = &limit->common;
	else
		*found = (struct limit_source){ 0 };
	snprintf(found->subject, sizeof(found->subject), "%s", subject);
	return found;
}

bool limit_pass(struct limit *limit, const char *subject, const char *text, uint64_t now_ns,
		uint64_t *ret_suppressed)
{
	struct limit_source *source = limit_source_of(limit, subject, now_ns);

	if (pass_limit(limit, source, now_ns, ret_suppressed))
		return true;
	source->suppressed++;
	snprintf(source->text, sizeof(source->text), "%s", text);
	return false;
}

/* The entry with suppressed events about which something was sent longest ago, or NULL. */
static const struct limit_source *find_oldest_suppressed(const struct limit *limit)
{
	const struct limit_source *next = limit->common.suppressed ? &limit->common : NULL;

	for (size_t i = 0; i < limit->count; i++) {
		const struct limit_source *source = &limit->sources[i];

		if (source->suppressed && (!next || source->sent_ns < next->sent_ns))
			next = source;
	}
	return next;
}

bool limit_release(struct limit *limit, uint64_t now_ns, const struct limit_source **ret_source,
		   uint64_t *ret_suppressed)
{
	struct limit_source *next = (struct limit_source *)find_oldest_suppressed(limit);

	if (!next || !pass_limit(limit, next, now_ns, ret_suppressed))
		return false;
	*ret_source = next;
	return true;
}

uint64_t limit_due(const struct limit *limit)
{
	const struct limit_source *next = find_oldest_suppressed(limit);
	uint64_t since;

	if (!next)
		return UINT64_MAX;
	since = next->sent_ns < limit->credited_ns ? next->sent_ns : limit->credited_ns;
	return since + LIMIT_PERIOD_NS;
}

void limit_done(struct limit *limit)
{
	free(limit->sources);
	*limit = (struct limit){ 0 };
}
