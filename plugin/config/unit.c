/* SPDX-License-Identifier: MIT */
/*
 * Names of systemd units, with wildcards, as in Unit options.
 */
#include "unit.h"

#include "util/glob.h"

#include "bpf/lib/services/group.h"

#include <stdio.h>
#include <string.h>

static const char *const unit_types[] = { ".service", ".scope", ".socket",
					  ".mount",   ".swap",  ".slice" };
static const char *const processless_types[] = { ".automount", ".device", ".path", ".target",
						 ".timer" };

static bool has_suffix(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length > end_length && !strcmp(text + length - end_length, end);
}

size_t unit_base_length(const char *name)
{
	for (size_t i = 0; i < sizeof(unit_types) / sizeof(*unit_types); i++)
		if (has_suffix(name, unit_types[i]))
			return strlen(name) - strlen(unit_types[i]);
	return strlen(name);
}

/* Such as systemd-nspawn@web.service and docker-ID.scope. */
static bool is_container(const char *name)
{
	struct group_walk walk = { 0 };

	walk.length = (__u32)snprintf(walk.name, sizeof(walk.name), "%s%s", name,
				      name[unit_base_length(name)] ? "" : ".service");
	if (walk.length >= sizeof(walk.name))
		return false;
	group_step(&walk);
	return walk.key.kind >= GROUP_CONTAINER;
}

bool unit_is_usable(const char *name, char *why, size_t size)
{
	if (strchr(name, '/')) {
		snprintf(why, size,
			 "it takes the name of a unit, such as \"nginx.service\"; for a path use "
			 "Cgroup");
		return false;
	}
	if (!glob_is_whole(name)) {
		snprintf(why, size, GLOB_NOT_WHOLE);
		return false;
	}
	if (strlen(name) >= UNIT_NAME_MAX) {
		snprintf(why, size, "no unit has a name of more than %d bytes", UNIT_NAME_MAX - 1);
		return false;
	}
	if (has_suffix(name, ".slice") && strncmp(name, "user-", 5) != 0) {
		snprintf(why, size,
			 "the only slices that it takes are those of users, such as "
			 "\"user-1000.slice\"; for another use Cgroup");
		return false;
	}
	if (is_container(name)) {
		snprintf(why, size,
			 "its processes are a container's or a machine's, which Container takes by "
			 "name or id");
		return false;
	}
	for (size_t i = 0; i < sizeof(processless_types) / sizeof(*processless_types); i++)
		if (has_suffix(name, processless_types[i])) {
			snprintf(why, size, "units of type %s have no processes",
				 processless_types[i] + 1);
			return false;
		}
	return true;
}

bool unit_covers(const char *rule, const char *later)
{
	char a[UNIT_NAME_MAX], b[UNIT_NAME_MAX];

	snprintf(a, sizeof(a), "%.*s", (int)unit_base_length(rule), rule);
	snprintf(b, sizeof(b), "%.*s", (int)unit_base_length(later), later);
	return !strcmp(a, b) || (!glob_has_wildcard(b) && glob_match(a, b));
}
