/* SPDX-License-Identifier: MIT */
/*
 * Paths of cgroups, which users can choose in part, and a glob, separated by a NUL. For any names,
 * the key must be whole, padding included.
 */
#include "fuzz.h"

#include "plugin/cgroup/description.h"
#include "plugin/cgroup/match.h"
#include "plugin/cgroup/runtime.h"

static void check_key(const struct group_key *key)
{
	size_t length = strnlen(key->text, sizeof(key->text));

	FUZZ_WANT(key->kind <= GROUP_USER_CONTAINER);
	FUZZ_WANT(length < sizeof(key->text));
	FUZZ_WANT((key->kind == GROUP_COMMAND) == (length == 0));
	if (key->kind == GROUP_USER_CONTAINER) {
		struct group_key user = *key;

		FUZZ_WANT(strspn(key->text + GROUP_USER_SIZE, "0123456789abcdef") ==
			  GROUP_ID_LENGTH);
		group_key_to_user(&user);
		check_key(&user);
		return;
	}
	for (size_t i = length; i < sizeof(key->text); i++)
		FUZZ_WANT(key->text[i] == '\0');
}

static struct users users = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct container_names containers;

/* Reads no files: user names and container ids are not resolved. */
static void check_description(const struct group_key *key, char *glob)
{
	struct service_config service = { .units = { .item = &glob, .count = 1 },
					  .containers = { .item = &glob, .count = 1 } };
	struct group_description d;

	if (key->kind == GROUP_COMMAND || key->kind == GROUP_USER ||
	    key->kind == GROUP_USER_CONTAINER || runtime_is_id(key->text))
		return;
	FUZZ_WANT(group_describe(key, &users, &containers, NULL, &d) == 0);
	FUZZ_WANT(strlen(d.name) < sizeof(d.name) && strlen(d.other_name) < sizeof(d.other_name));
	group_matches(&service, key, &d);
	glob = d.full_name;
	if (!strpbrk(glob, "*?["))
		FUZZ_WANT(group_matches(&service, key, &d) || glob[0] == '\0' ||
			  key->kind == GROUP_UNIT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *path = text;
	size_t length = strlen(text);
	char empty[] = "", *glob = length < size ? text + length + 1 : empty;
	struct group_walk walk = { 0 };
	int known = 0;

	while (*path && !known) {
		size_t name = strcspn(path, "/");
		struct group_key before = walk.key;

		if (name > 0 && name < GROUP_DIRECTORY_MAX) {
			memcpy(walk.name, path, name);
			walk.name[name] = '\0';
			walk.length = (__u32)name;
			known = group_step(&walk);
			FUZZ_WANT(!known || walk.key.kind != GROUP_COMMAND);
			FUZZ_WANT(before.kind == GROUP_COMMAND || before.kind == GROUP_USER ||
				  known);
		}
		path += name + (path[name] == '/');
	}
	check_key(&walk.key);
	check_description(&walk.key, glob);
	free(text);
	return 0;
}
