/* SPDX-License-Identifier: MIT */
/*
 * Finds services that were restarted. The kernel notes for each row when it got a process while it had none. If that is new for
 * all rows of a service, so are its processes, even if nobody has looked in between.
 *
 * A program that is started again and again, and that nothing but its command names, is no service that was restarted.
 * Names are remembered while a service has no processes, so that one that is started after an hour is no new service.
 */
#include "restart.h"

#include "bpf/lib/services/service.h"
#include "lifecycle_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIVED_INTERVALS 6
#define AN_HOUR 6

static struct generation *find_generation(struct restarts *restarts, const struct subject *subject)
{
	size_t hint = subject->restart_hint;

	if (hint < restarts->count && !strcmp(restarts->generation[hint].service, subject->name))
		return &restarts->generation[hint];
	for (size_t i = 0; i < restarts->count; i++)
		if (!strcmp(restarts->generation[i].service, subject->name))
			return &restarts->generation[i];
	return NULL;
}

static struct generation *find_oldest(struct restarts *restarts)
{
	struct generation *oldest = &restarts->generation[0];

	for (size_t i = 1; i < restarts->count; i++)
		if (restarts->generation[i].seen_ns < oldest->seen_ns)
			oldest = &restarts->generation[i];
	return oldest;
}

/* An entry for another service; NULL: no memory. If there are enough, it is the one that was seen longest ago. */
static struct generation *claim_generation(struct restarts *restarts, size_t most)
{
	struct generation *grown;

	if (restarts->count >= most)
		return find_oldest(restarts);
	grown = reallocarray(restarts->generation, restarts->count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	restarts->generation = grown;
	return &grown[restarts->count++];
}

static struct generation *add_generation(struct restarts *restarts, const struct subject *subject,
					 size_t most)
{
	struct generation *new = claim_generation(restarts, most);

	if (!new)
		return NULL;
	*new = (struct generation){ .known_ns = UINT64_MAX };
	snprintf(new->service, sizeof(new->service), "%s", subject->name);
	allowance_init(&new->allowance, AN_HOUR);
	return new;
}

static void note_restart(struct generation *g, uint64_t began_ns, uint64_t now_ns)
{
	bool was_without = began_ns > g->seen_ns;

	allowance_fill(&g->allowance, now_ns);
	if (!allowance_use(&g->allowance))
		return;
	/* Rows may be replaced one by one: then it is complete when the last of the old ones has no process. */
	g->restart.time_ns = was_without ? began_ns : now_ns;
	g->restart.without_ns = was_without ? began_ns - g->seen_ns : 0;
	snprintf(g->restart.service, sizeof(g->restart.service), "%s", g->service);
}

static void compare_generation(struct generation *g, uint64_t began_ns, uint64_t interval_ns,
			       uint64_t now_ns)
{
	bool is_new = began_ns > g->known_ns;

	if (is_new && g->seen_ns - g->began_ns >= LIVED_INTERVALS * interval_ns)
		note_restart(g, began_ns, now_ns);
	if (is_new || g->known_ns == UINT64_MAX)
		g->known_ns = now_ns > began_ns ? now_ns : began_ns;
	g->began_ns = began_ns;
	g->seen_ns = now_ns;
}

/* Of services that are shown. */
static void find_beginnings(struct lifecycle *lifecycle)
{
	struct subjects *subjects = &lifecycle->subjects;

	for (size_t i = 0; i < subjects->count; i++)
		subjects->subject[i].began_ns = 0;
	for (uint32_t row = SERVICE_FIRST; row < lifecycle->row_count; row++) {
		const struct service *s = &lifecycle->kernel_rows[row];
		uint64_t began_ns = __atomic_load_n(&s->began_ns, __ATOMIC_RELAXED), *first_ns;
		bool alive = __atomic_load_n(&s->processes, __ATOMIC_RELAXED) > 0;

		if (lifecycle->states[row].state != ROW_SHOWN || !alive)
			continue;
		first_ns = &subjects->subject[lifecycle->states[row].subject].began_ns;
		if (!*first_ns || began_ns < *first_ns)
			*first_ns = began_ns;
	}
}

void restarts_update(struct restarts *restarts, struct lifecycle *lifecycle, uint64_t now_ns)
{
	find_beginnings(lifecycle);
	for (size_t i = 0; i < lifecycle->subjects.count; i++) {
		struct subject *subject = &lifecycle->subjects.subject[i];
		struct generation *g;

		if (!subject->began_ns || subject->kind == SUBJECT_COMMAND)
			continue;
		g = find_generation(restarts, subject)
			    ?: add_generation(restarts, subject, lifecycle->row_count);
		if (!g)
			continue;
		subject->restart_hint = (uint32_t)(g - restarts->generation);
		compare_generation(g, subject->began_ns, lifecycle->interval_ns, now_ns);
	}
}

bool restarts_claim(struct restarts *restarts, struct restart *ret_restart)
{
	for (size_t i = 0; i < restarts->count; i++) {
		struct restart *restart = &restarts->generation[i].restart;

		if (!restart->time_ns)
			continue;
		*ret_restart = *restart;
		restart->time_ns = 0;
		return true;
	}
	return false;
}

void restarts_done(struct restarts *restarts)
{
	free(restarts->generation);
	*restarts = (struct restarts){ 0 };
}
