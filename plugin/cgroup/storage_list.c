/* SPDX-License-Identifier: MIT */
/*
 * The list of containers/storage (podman) has an entry for each container and may have many megabytes. It is cut into its
 * entries as it comes. If one container is searched for, only an entry with its id is parsed.
 */
#include "storage_list.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 4096
#define ENTRY_DEPTH 2 /* an object in an array */

static void restart_list(struct storage_list *list)
{
	list->size = list->depth = 0;
	list->in_string = list->is_escaped = list->is_skipped = list->is_found = false;
}

static void add_entry_byte(struct storage_list *list, char byte)
{
	size_t room = list->room ? 2 * list->room : ROOM_FIRST;
	char *grown = list->entry;

	if (list->size == list->room && !list->is_skipped) {
		grown = room <= STATE_SIZE_MAX ? realloc(list->entry, room) : NULL;
		list->is_skipped = !grown;
		list->entry = grown ?: list->entry;
		list->room = grown ? room : list->room;
	}
	if (!list->is_skipped)
		list->entry[list->size++] = byte;
}

static void visit_entry(void *of, const char *id, const struct container *container)
{
	struct storage_list *list = of;

	if (list->id && strcmp(list->id, id) != 0)
		return;
	list->is_found = list->id != NULL;
	list->visit(list->of, id, container);
}

static void end_entry(struct storage_list *list)
{
	bool may_be_it = !list->id || memmem(list->entry, list->size, list->id, strlen(list->id));

	if (!list->is_skipped && may_be_it)
		state_each(STATE_STORAGE, list->entry, list->size, visit_entry, list);
	list->size = 0;
	list->is_skipped = false;
}

static void receive_byte(struct storage_list *list, char byte)
{
	bool is_end = false;

	if (list->in_string) {
		list->in_string = list->is_escaped || byte != '"';
		list->is_escaped = !list->is_escaped && byte == '\\';
	} else if (byte == '"') {
		list->in_string = true;
	} else if (byte == '{' || byte == '[') {
		list->depth++;
	} else if ((byte == '}' || byte == ']') && list->depth) {
		is_end = list->depth-- == ENTRY_DEPTH;
	}
	if (list->depth >= ENTRY_DEPTH || is_end)
		add_entry_byte(list, byte);
	if (is_end)
		end_entry(list);
}

void storage_list_receive(void *of, const char *bytes, size_t size)
{
	struct storage_list *list = of;

	if (!bytes)
		restart_list(list);
	for (size_t i = 0; i < size && !list->is_found; i++)
		receive_byte(list, bytes[i]);
}

void storage_list_done(struct storage_list *list)
{
	free(list->entry);
	list->entry = NULL;
	list->room = 0;
	restart_list(list);
}
