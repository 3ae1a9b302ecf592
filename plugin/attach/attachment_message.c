/* SPDX-License-Identifier: MIT */
/*
 * What is told of attachments. What is wrong with a file is so for all functions of it: one message
 * names the first line of the configuration that it is about, and how many others there are.
 */
#include "attachment_message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct state {
	int severity;
	const char *before, *of_one, *of_more, *remedy;
} STATES[] = {
	[ATTACHMENT_REFUSED] = { LOG_ERR, "ignoring ", "", "", "" },
	[ATTACHMENT_FILE_REFUSED] = { LOG_ERR, "ignoring ", " until its file changes",
				      " until their file changes", "" },
	[ATTACHMENT_CALLS_ONLY] = { LOG_WARNING, "",
				    " counts its calls only, as where it returns is not known",
				    " count their calls only, as where they return is not known",
				    "; Returns \"replace\" does without, but read collectd-ebpf(5) "
				    "first" },
	[ATTACHMENT_DEFERRED] = { LOG_WARNING, "", " is not attached yet and is tried again",
				  " are not attached yet and are tried again", "" },
	[ATTACHMENT_WAITS] = { LOG_NOTICE, "", " waits", " wait", "" },
	[ATTACHMENT_ATTACHED] = { LOG_NOTICE, "", " is attached now", " are attached now", "" },
};

static bool was_told(uint64_t *told, const char *why)
{
	uint64_t before = *told;

	*told = file_number(why);
	return *told == before;
}

static void keep(struct attachment *attachment, enum attachment_state state, const char *why)
{
	free(attachment->why);
	attachment->state = state;
	attachment->why = strdup(why);
}

void attachment_note(struct attachment *attachment, enum attachment_state state, const char *why)
{
	if (!was_told(&attachment->told, why))
		keep(attachment, state, why);
}

void attachment_note_attached(struct attachment *attachment)
{
	if (attachment->told)
		keep(attachment, ATTACHMENT_ATTACHED, "");
	attachment->told = 0;
}

void attachment_tell_file(struct attachment *attachment, const char *probe, const char *why)
{
	if (!was_told(&attachment->told_file, why))
		message(LOG_NOTICE, "probe %s: the symbols of %s alone are used: %s", probe,
			attachment->point->path ?: "the program", why);
}

/* Those of which the same is told. */
struct group {
	const struct attachment *first, *last;
	size_t others; /* lines of the configuration, whose attachments are next to each other */
};

static void group_add(struct group *group, const struct attachment *item)
{
	group->others += strcmp(group->last->what, item->what) != 0;
	group->last = item;
}

static void name_others(const struct group *group, char *text, size_t size)
{
	text[0] = '\0';
	if (group->others)
		snprintf(text, size, " and %zu other%s", group->others,
			 group->others > 1 ? "s" : "");
}

static void tell_state(const struct group *group, const char *probe)
{
	const struct attachment *first = group->first;
	const struct state *state = &STATES[first->state];
	char others[48];

	name_others(group, others, sizeof(others));
	message(state->severity, "probe %s: %s%s%s%s%s%s%s", probe, state->before, first->what,
		others, group->others ? state->of_more : state->of_one, first->why[0] ? ": " : "",
		first->why, state->remedy);
}

static bool is_same(const struct attachment *one, const struct attachment *other)
{
	return other->why && one->state == other->state && !strcmp(one->why, other->why);
}

static void forget(struct attachment *item)
{
	free(item->why);
	item->why = NULL;
}

static void tell_states(struct attachment *const *items, size_t count, const char *probe)
{
	for (size_t i = 0; i < count; i++) {
		struct group group = { .first = items[i], .last = items[i] };

		if (!items[i]->why)
			continue;
		for (size_t j = i + 1; j < count; j++)
			if (is_same(items[i], items[j])) {
				group_add(&group, items[j]);
				forget(items[j]);
			}
		tell_state(&group, probe);
		forget(items[i]);
	}
}

/* Each of these says so once of an attachment. */
typedef bool news(struct attachment *item);

static bool is_stepped_at_entry(struct attachment *item)
{
	return item->stepped && !item->at_return && !item->stepped_told &&
	       (item->stepped_told = true);
}

static bool is_stepped_at_return(struct attachment *item)
{
	return item->stepped && item->at_return && !item->stepped_told &&
	       (item->stepped_told = true);
}

/* Of objects of users: a Function block has to say so itself. */
static bool is_replacing(struct attachment *item)
{
	return item->replaced && !item->is_paired && !item->replaced_told &&
	       (item->replaced_told = true);
}

static void tell_news(struct attachment *const *items, size_t count, const char *probe,
		      news *is_new, int severity, const char *text)
{
	struct group group;
	char others[48];
	size_t i = 0;

	while (i < count && !is_new(items[i]))
		i++;
	if (i == count)
		return;
	group = (struct group){ .first = items[i], .last = items[i] };
	while (++i < count)
		if (is_new(items[i]))
			group_add(&group, items[i]);
	name_others(&group, others, sizeof(others));
	message(severity, "probe %s: %s%s: %s", probe, group.first->what, others, text);
}

void attachments_tell(struct attachment *const *items, size_t count, const char *probe)
{
	tell_states(items, count, probe);
	tell_news(items, count, probe, is_stepped_at_entry, LOG_NOTICE,
		  "the kernel has to single-step the instruction at the entry, so that each call "
		  "costs some 11 us and not 0.5; MaxOverhead limits what that may come to");
	tell_news(items, count, probe, is_stepped_at_return, LOG_NOTICE,
		  "the kernel has to single-step the instruction that returns, which costs some 11 "
		  "us a call; MaxOverhead limits what that may come to");
	tell_news(
		items, count, probe, is_replacing, LOG_WARNING,
		"the kernel replaces the address to which the function returns: a C++ exception, "
		"a Rust panic or whatever else unwinds the stack through a call of it ends the "
		"program; where that may happen, attach a uprobe to the instructions that return, "
		"by their offsets");
}
