/* SPDX-License-Identifier: MIT */
/*
 * plugin/cgroup/storage_list.c: the list of podman, one that podman has written and hostile ones, in parts of any size.
 */
#include "tests/unit/testing.h"

#include "tests/unit/fake/state.h"

#include "plugin/cgroup/state.h"
#include "plugin/cgroup/storage_list.h"

#define OTHER_ID "0000000000000000000000000000000000000000000000000000000000000000"
#define FILLER \
	"{\"id\":\"%064zx\",\"names\":[\"filler-%zu\"],\"metadata\":\"{\\\"a\\\":[\\\"}\\\"]}\"},"

static size_t room_used;

/* The name that the list has for the id, "" if it has none. */
static const char *find(const char *text, size_t size, size_t part, const char *id)
{
	static char name[CONTAINER_NAME_MAX];
	struct container container = { 0 };
	struct parsed_state parsed = { .id = id, .container = &container };
	struct storage_list list = { .id = id, .visit = note_parsed, .of = &parsed };

	storage_list_receive(&list, NULL, 0);
	for (size_t at = 0; at < size; at += part)
		storage_list_receive(&list, text + at, size - at < part ? size - at : part);
	strcpy(name, container.name);
	room_used = list.room;
	storage_list_done(&list);
	return name;
}

static void test_recorded(void)
{
	size_t size, end = 0;
	char *text = recorded("podman.json", &size);

	for (size_t part = 1; part <= size; part = 3 * part + 1) {
		CASE("in parts of %zu bytes", part);
		CHECK_TEXT(find(text, size, part, PODMAN_ID), "web");
		CHECK_TEXT(find(text, size, part, PODMAN_SHORT_ID), "short");
		CHECK_TEXT(find(text, size, part, OTHER_ID), "");
	}
	CASE("of which some is missing");
	while (end < size && !find(text, end, size, PODMAN_ID)[0])
		end++;
	CHECK_INT(text[end - 1], '}');
	CHECK_TEXT(find(text, end - 1, size, PODMAN_ID), "");
	free(text);
}

static void test_restart(void)
{
	struct container container;
	struct parsed_state parsed = { .id = OTHER_ID, .container = &container };
	struct storage_list list = { .id = OTHER_ID, .visit = note_parsed, .of = &parsed };
	static const char text[] = "[{\"id\":\"" OTHER_ID "\",\"names\":[\"web\"]}]";

	CASE("a helper is replaced within a string");
	storage_list_receive(&list, "[[{\"x", 5);
	storage_list_receive(&list, NULL, 0);
	storage_list_receive(&list, text, sizeof(text) - 1);
	CHECK_INT(list.is_found, true);
	storage_list_done(&list);
}

/* A list of more than 20 MiB; the wanted container is the last one. */
static void test_long(void)
{
	const size_t count = 170000;
	char *text = malloc(count * 256), *at = text;

	if (!text)
		abort();
	at = stpcpy(at, "[");
	for (size_t i = 1; i <= count; i++)
		at += sprintf(at, FILLER, i, i);
	at = stpcpy(at, "{\"id\":\"" OTHER_ID "\",\"names\":[\"last\"]}]");
	CASE("%zu bytes", (size_t)(at - text));
	CHECK_INT(at - text > 20 << 20, true);
	CHECK_TEXT(find(text, (size_t)(at - text), 4096, OTHER_ID), "last");
	CHECK_INT(room_used <= 4096, true);
	free(text);
}

/* An entry that is too large, and one after it. */
static void test_large_entry(void)
{
	size_t length = STATE_SIZE_MAX + 100;
	char *text = malloc(length + 1024), *at = text;

	if (!text)
		abort();
	at = stpcpy(at, "[{\"id\":\"" PODMAN_ID "\",\"names\":[\"large\"],\"x\":\"");
	memset(at, 'x', length);
	at = stpcpy(at + length, "\"},{\"id\":\"" OTHER_ID "\",\"names\":[\"next\"]}]");
	CASE("an entry of %zu bytes", length);
	CHECK_TEXT(find(text, (size_t)(at - text), 4096, PODMAN_ID), "");
	CHECK_INT(room_used <= STATE_SIZE_MAX, true);
	CHECK_TEXT(find(text, (size_t)(at - text), 4096, OTHER_ID), "next");
	free(text);
}

static void test_hostile(void)
{
	static const struct {
		const char *text, *name;
	} lists[] = {
		{ "", "" },
		{ "]]}}[{\"id\":\"" OTHER_ID "\",\"names\":[\"web\"]}]", "web" },
		{ "{\"id\":\"" OTHER_ID "\",\"names\":[\"web\"]}", "" },
		/* In texts: an entry of another container, with the id in a label. */
		{ "[{\"id\":\"x\",\"names\":[\"evil\"],\"metadata\":\"" OTHER_ID "\"},"
		  "{\"id\":\"" OTHER_ID "\",\"names\":[\"web\"]}]",
		  "web" },
		{ "[{\"id\":\"x\",\"names\":[\"\\\"},{\\\"id\\\":\\\"" OTHER_ID
		  "\\\",\\\"names\\\":[\\\"evil\\\"]}\"]}]",
		  "" },
		{ "[{\"x\":\"\\\\\"},{\"id\":\"" OTHER_ID "\",\"names\":[\"web\"]}]", "web" },
		{ "[{\"id\":\"" OTHER_ID "\",\"names\":[\"web\"],\"x\":}]", "" },
	};

	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		CASE("%s", lists[i].text);
		CHECK_TEXT(find(lists[i].text, strlen(lists[i].text), 7, OTHER_ID), lists[i].name);
	}
}

int main(void)
{
	if (!state_is_readable()) {
		printf("skipped: built without jansson\n");
		return TESTING_SKIPPED;
	}
	test_recorded();
	test_restart();
	test_long();
	test_large_entry();
	test_hostile();
	return testing_end();
}
