/* SPDX-License-Identifier: MIT */
/*
 * Frames of records become numbers at once, while their processes live, and lines of files once a
 * minute:
 *
 *   COMMAND;main;handle;vfs_read_[k]
 *
 * The command name is that of the thread. If nothing is known of the program's functions, the
 * system call is in their place, as "[read]".
 */
#include "collector.h"

#include "bpf/lib/stack.h"
#include "code.h"
#include "frame_text.h"
#include "schema/label_kind.h"
#include "stacks.h"
#include "store.h"
#include "texts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VIEWS_MAX 64
#define FRAMES_MAX (STACK_KERNEL_MAX + STACK_USER_MAX)
#define LINE_MAX ((FRAMES_MAX + 2) * CODE_NAME_MAX)

struct collector {
	struct store *store;
	struct codes *codes;
	struct stacks stacks;
	struct texts texts;
	struct collector_view_state {
		char name[VIEW_WORD_MAX];
		bool is_state;
		bool is_announced; /* a new state was announced, and no record of it has come */
		bool is_started;   /* a new state has started since the last write */
	} view[VIEWS_MAX];
	int view_count;
	time_t since;
	bool is_full;
	char line[LINE_MAX];
};

int collector_open(struct collector **ret_collector, const struct profiles_config *config,
		   struct file_helper *files, struct ksyms *ksyms, struct error *error)
{
	struct collector *collector = calloc(1, sizeof(*collector));
	int status;

	if (!collector)
		return error_set(error, -ENOMEM, "no memory for profiles");
	status = store_open(&collector->store, config, error);
	if (status == 0) {
		collector->codes = codes_new(files, ksyms);
		if (!collector->codes || stacks_init(&collector->stacks) ||
		    texts_init(&collector->texts))
			status = error_set(error, -ENOMEM, "no memory for profiles");
	}
	if (status) {
		collector_free(collector);
		return status;
	}
	*ret_collector = collector;
	return 0;
}

int collector_view(struct collector *collector, const struct view *view)
{
	struct collector_view_state *state = &collector->view[collector->view_count];

	if (collector->view_count == VIEWS_MAX)
		return -ENOMEM;
	snprintf(state->name, sizeof(state->name), "%s", view->name);
	state->is_state = view->is_state;
	return collector->view_count++;
}

/* --- records --- */

/* A parsed record. */
struct stack_record {
	struct stack_head head;
	uint64_t kernel[STACK_KERNEL_MAX];
	struct stack_frame user[STACK_USER_MAX];
	const char *text;
	size_t text_size;
};

static bool parse_record(struct stack_record *parsed, const char *record, size_t size)
{
	size_t kernel, user;

	if (size < sizeof(parsed->head))
		return false;
	memcpy(&parsed->head, record, sizeof(parsed->head));
	record += sizeof(parsed->head);
	size -= sizeof(parsed->head);
	if (parsed->head.kernel_count > STACK_KERNEL_MAX ||
	    parsed->head.user_count > STACK_USER_MAX)
		return false;
	kernel = parsed->head.kernel_count * sizeof(parsed->kernel[0]);
	user = parsed->head.user_count * sizeof(parsed->user[0]);
	if (size < kernel + user)
		return false;
	memcpy(parsed->kernel, record, kernel);
	memcpy(parsed->user, record + kernel, user);
	parsed->text = kernel + user ? NULL : record;
	parsed->text_size = kernel + user ? 0 : size;
	return true;
}

/* A caller's address is that of the instruction behind the call, so 1 is subtracted. */
static uint32_t number_frames(struct collector *collector, const struct stack_record *parsed,
			      uint32_t numbers[FRAMES_MAX])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < parsed->head.kernel_count; i++)
		numbers[count++] = codes_of_kernel(collector->codes, parsed->kernel[i] - (i > 0));
	for (uint32_t i = 0; i < parsed->head.user_count; i++) {
		struct stack_frame frame = parsed->user[i];

		if (frame.status == STACK_NONE)
			break;
		frame.location -= i > 0;
		numbers[count++] = codes_of(collector->codes, &parsed->head, &frame);
	}
	return count;
}

static int add_text_record(struct collector *collector, struct stacks_key *key,
			   const struct stack_record *parsed)
{
	char line[FRAME_TEXT_MAX];
	uint32_t number;

	frame_text(parsed->text, parsed->text_size, line, sizeof(line));
	number = texts_number(&collector->texts, line);
	if (number == INDEX_NONE)
		return -ENOSPC;
	key->is_text = true;
	return stacks_add(&collector->stacks, key, &number, 1, parsed->head.value);
}

static int add_frame_record(struct collector *collector, struct stacks_key *key,
			    const struct stack_record *parsed)
{
	uint32_t numbers[FRAMES_MAX];
	uint32_t count = number_frames(collector, parsed, numbers);

	key->syscall = parsed->head.user_count ? 0 : parsed->head.syscall;
	memcpy(key->comm, parsed->head.comm, strnlen(parsed->head.comm, sizeof(key->comm)));
	return stacks_add(&collector->stacks, key, numbers, count, parsed->head.value);
}

static int add_record(struct collector *collector, int view, const char *service,
		      const struct stack_record *parsed)
{
	struct stacks_key key = { .view = (uint32_t)view };

	key.service = texts_number(&collector->texts, service);
	if (key.service == INDEX_NONE)
		return -ENOSPC;
	return parsed->text_size ? add_text_record(collector, &key, parsed)
				 : add_frame_record(collector, &key, parsed);
}

/* Starts a new state: the values of the one before no longer count. */
static void start_state(struct collector *collector, int view)
{
	collector->view[view].is_started = true;
	stacks_drop(&collector->stacks, (uint32_t)view);
}

/* A state stays until a record of the next one comes, or yet another is announced. Files may be
 * written in between, and must not be empty. */
static void announce_state(struct collector *collector, int view)
{
	if (!collector->view[view].is_state)
		return;
	if (collector->view[view].is_announced)
		start_state(collector, view);
	collector->view[view].is_announced = true;
}

int collector_add(struct collector *collector, int view, const char *service, const void *record,
		  size_t size, time_t when)
{
	struct stack_record parsed;
	int status = 0;

	if (!parse_record(&parsed, record, size))
		return -EINVAL;
	if (!collector->since)
		collector->since = when;
	if (!parsed.head.value) {
		announce_state(collector, view);
		return 0;
	}
	if (collector->view[view].is_announced)
		start_state(collector, view);
	collector->view[view].is_announced = false;
	status = add_record(collector, view, service, &parsed);
	collector->is_full |= status == -ENOSPC;
	return status;
}

/* --- lines --- */

static char *put_frame(const struct collector *collector, char *at, const char *name)
{
	size_t room = (size_t)(collector->line + sizeof(collector->line) - at);
	int length = snprintf(at, room, "%s%s", at == collector->line ? "" : ";", name);

	return length < 0 || (size_t)length >= room ? at + room - 1 : at + length;
}

static char *put_syscall(const struct collector *collector, char *at, uint32_t syscall)
{
	static const struct label label; /* label_kind's name() needs no more of it */
	char name[64], frame[64 + 2];

	label_kind("syscall")->name(&label, syscall, name, sizeof(name));
	snprintf(frame, sizeof(frame), "[%s]", name);
	return put_frame(collector, at, frame);
}

/* Writes the line to collector->line. */
static void make_line(struct collector *collector, const struct stacks_entry *entry)
{
	const uint32_t *word = &collector->stacks.word[entry->begin];
	char comm[FRAME_TEXT_MAX], *at = collector->line;

	if (entry->key.is_text) {
		put_frame(collector, at, collector->texts.text[word[0]]);
		return;
	}
	frame_text(entry->key.comm, strnlen(entry->key.comm, sizeof(entry->key.comm)), comm,
		   sizeof(comm));
	at = put_frame(collector, at, comm);
	if (entry->key.syscall)
		at = put_syscall(collector, at, entry->key.syscall - 1);
	for (uint32_t i = entry->count; i > 0; i--)
		at = put_frame(collector, at, codes_name(collector->codes, word[i - 1]));
}

static void start_states(struct collector *collector)
{
	for (int i = 0; i < collector->view_count; i++) {
		if (collector->view[i].is_started)
			store_begin(collector->store, collector->view[i].name, collector->since);
		collector->view[i].is_started = false;
	}
}

static int add_stack_lines(struct collector *collector)
{
	int status = 0;

	start_states(collector);
	for (uint32_t i = 0; i < collector->stacks.count && status == 0; i++) {
		const struct stacks_entry *entry = &collector->stacks.entry[i];

		if (!entry->value)
			continue;
		make_line(collector, entry);
		status = store_add(collector->store, collector->texts.text[entry->key.service],
				   collector->view[entry->key.view].name, collector->since,
				   collector->line, entry->value);
	}
	return status;
}

time_t collector_since(const struct collector *collector)
{
	return collector->since;
}

bool collector_is_full(const struct collector *collector)
{
	return collector->is_full;
}

int collector_write(struct collector *collector, time_t now, bool (*between)(void *with),
		    void *with, struct error *error)
{
	int status, written;

	codes_resolve(collector->codes, between, with);
	status = add_stack_lines(collector);
	if (status)
		error_set(error, status, "no memory for profiles");
	stacks_clear(&collector->stacks);
	texts_clear(&collector->texts);
	codes_forget(collector->codes);
	collector->since = 0;
	collector->is_full = false;
	written = store_write(collector->store, now, error);
	return written ?: status;
}

void collector_free(struct collector *collector)
{
	if (!collector)
		return;
	store_free(collector->store);
	codes_free(collector->codes);
	stacks_done(&collector->stacks);
	texts_done(&collector->texts);
	free(collector);
}
