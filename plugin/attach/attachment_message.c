/* SPDX-License-Identifier: MIT */
/*
 * Messages about attachments. A fault of a file affects all hooks in it: one message names the
 * first line of the configuration that it affects and the number of the others.
 */
#include "attachment_message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct state_words {
	int severity;
	const char *before, *of_one, *of_more, *remedy;
} STATES[] = {
	[ATTACHMENT_REFUSED] = { LOG_ERR, "ignoring ", "", "", "" },
	[ATTACHMENT_FILE_REFUSED] = { LOG_ERR, "ignoring ", " until its file changes",
				      " until their file changes", "" },
	[ATTACHMENT_CALLS_ONLY] = { LOG_WARNING, "",
				    " counts only its calls, because "
				    "it is not known where it returns",
				    " count only their calls, because "
				    "it is not known where they return",
				    "; Returns \"replace\" does without, but read collectd-ebpf(5) "
				    "first" },
	[ATTACHMENT_DEFERRED] = { LOG_WARNING, "", " is not attached yet and is tried again",
				  " are not attached yet and are tried again", "" },
	[ATTACHMENT_WAITS] = { LOG_NOTICE, "", " waits", " wait", "" },
	[ATTACHMENT_ATTACHED] = { LOG_NOTICE, "", " is attached now", " are attached now", "" },
};

static bool was_logged(uint64_t *logged, const char *why)
{
	uint64_t before = *logged;

	*logged = file_number(why);
	return *logged == before;
}

static void set_state(struct attachment *attachment, enum attachment_state state, const char *why)
{
	free(attachment->why);
	attachment->state = state;
	attachment->why = strdup(why);
}

void attachment_note(struct attachment *attachment, enum attachment_state state, const char *why)
{
	if (!was_logged(&attachment->logged, why))
		set_state(attachment, state, why);
}

void attachment_note_attached(struct attachment *attachment)
{
	if (attachment->logged)
		set_state(attachment, ATTACHMENT_ATTACHED, "");
	attachment->logged = 0;
}

void attachment_log_file(struct attachment *attachment, const char *probe, const char *why)
{
	if (!was_logged(&attachment->logged_file, why))
		message(LOG_NOTICE, "probe %s: only the symbols of %s are used: %s", probe,
			attachment->hook->path ?: "the program", why);
}

/* Attachments with the same message. */
struct state_group {
	const struct attachment *first, *last;
	size_t others; /* further lines of the configuration; attachments of one line are
		        * adjacent */
};

static void group_add(struct state_group *group, const struct attachment *item)
{
	group->others += strcmp(group->last->what, item->what) != 0;
	group->last = item;
}

static void name_others(const struct state_group *group, char *text, size_t size)
{
	text[0] = '\0';
	if (group->others)
		snprintf(text, size, " and %zu other%s", group->others,
			 group->others > 1 ? "s" : "");
}

static void log_state(const struct state_group *group, const char *probe)
{
	const struct attachment *first = group->first;
	const struct state_words *state = &STATES[first->state];
	char others[48];

	name_others(group, others, sizeof(others));
	message(state->severity, "probe %s: %s%s%s%s%s%s%s", probe, state->before, first->what,
		others, group->others ? state->of_more : state->of_one, first->why[0] ? ": " : "",
		first->why, state->remedy);
}

static bool has_same_state(const struct attachment *one, const struct attachment *other)
{
	return other->why && one->state == other->state && !strcmp(one->why, other->why);
}

static void clear_state(struct attachment *item)
{
	free(item->why);
	item->why = NULL;
}

static void log_states(struct attachment *const *items, size_t count, const char *probe)
{
	for (size_t i = 0; i < count; i++) {
		struct state_group group = { .first = items[i], .last = items[i] };

		if (!items[i]->why)
			continue;
		for (size_t j = i + 1; j < count; j++)
			if (has_same_state(items[i], items[j])) {
				group_add(&group, items[j]);
				clear_state(items[j]);
			}
		log_state(&group, probe);
		clear_state(items[i]);
	}
}

/* Returns true the first time that the condition holds for an attachment. */
typedef bool condition(struct attachment *item);

static bool steps_at_entry(struct attachment *item)
{
	return item->single_step && !item->at_return && !item->single_step_logged &&
	       (item->single_step_logged = true);
}

static bool steps_at_return(struct attachment *item)
{
	return item->single_step && item->at_return && !item->single_step_logged &&
	       (item->single_step_logged = true);
}

/* Only for programs of users: whoever writes Returns "replace" in a Function block has accepted
 * it. */
static bool replaces_address(struct attachment *item)
{
	return item->replaced && !item->is_paired && !item->replaced_logged &&
	       (item->replaced_logged = true);
}

static void log_condition(struct attachment *const *items, size_t count, const char *probe,
			  condition *applies, int severity, const char *text)
{
	struct state_group group;
	char others[48];
	size_t i = 0;

	while (i < count && !applies(items[i]))
		i++;
	if (i == count)
		return;
	group = (struct state_group){ .first = items[i], .last = items[i] };
	while (++i < count)
		if (applies(items[i]))
			group_add(&group, items[i]);
	name_others(&group, others, sizeof(others));
	message(severity, "probe %s: %s%s: %s", probe, group.first->what, others, text);
}

void attachments_log(struct attachment *const *items, size_t count, const char *probe)
{
	log_states(items, count, probe);
	log_condition(
		items, count, probe, steps_at_entry, LOG_NOTICE,
		"the kernel has to single-step the instruction at the entry, which makes each call "
		"many times as expensive; MaxOverhead limits the cost");
	log_condition(
		items, count, probe, steps_at_return, LOG_NOTICE,
		"the kernel has to single-step the instruction that returns, which makes each call "
		"many times as expensive; MaxOverhead limits the cost");
	log_condition(
		items, count, probe, replaces_address, LOG_WARNING,
		"the kernel replaces the address to which the function returns: a C++ exception, "
		"a Rust panic or anything else that unwinds the stack through a call of it ends the "
		"program; where that may happen, attach a uprobe to the instructions that return, "
		"by their offsets");
}
