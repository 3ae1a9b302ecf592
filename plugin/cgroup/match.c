/* SPDX-License-Identifier: MIT */
/*
 * Matches units, users and containers with the options Unit and Container of Service blocks.
 */
#include "match.h"

#include "config/name.h"
#include "config/unit.h"
#include "runtime.h"
#include "state.h"
#include "util/glob.h"

#include "bpf/lib/services/service.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define SHORT_ID 12 /* digits that stand for a whole id */

/* A name that systemd has escaped fits with the escapes, without them, as series spell it, and without the
 * backslashes, which collectd removes from its configuration. */
static bool match_escaped(const char *glob, const char *key, const struct group_description *d)
{
	char bare[GROUP_TEXT_MAX] = "", clean[sizeof(d->full_name)];
	size_t length = 0;

	for (const char *at = key; *at; at++)
		if (*at != '\\')
			bare[length++] = *at;
	name_clean(clean, sizeof(clean), d->full_name);
	return glob_match(glob, key) || glob_match(glob, bare) || glob_match(glob, d->full_name) ||
	       glob_match(glob, clean);
}

/* A unit fits by its name and by that of its cgroup's directory, where an underscore may come first. */
static bool match_unit(const char *option, const char *key, const struct group_description *d)
{
	char glob[GROUP_FULL_NAME_MAX];
	size_t length = unit_base_length(option);

	if (length >= sizeof(glob))
		return false;
	memcpy(glob, option, length);
	glob[length] = '\0';
	return match_escaped(glob, key, d) || (glob[0] == '_' && !strcmp(glob + 1, key));
}

/* Is the option this id, or the first digits of it? */
static bool match_id(const char *option, const char *id)
{
	size_t length = strspn(option, "0123456789abcdef");

	return option[length] == '\0' && length >= SHORT_ID && length <= GROUP_ID_LENGTH &&
	       !strncmp(option, id, length);
}

static bool match_container(const char *option, const char *key, const struct group_description *d)
{
	return (runtime_is_id(key) && match_id(option, key)) || glob_match(option, d->full_name) ||
	       glob_match(option, d->name);
}

/* A user's container fits only an option with a colon: user-alice:web, user-1000:0123456789ab. No wildcard stands
 * for the colon, so that a container of a user is never taken for one of the machine. */
static bool match_user_container(const char *option, const struct group_key *key,
				 const struct group_description *d)
{
	const char *colon = strchr(option, ':'), *full = strchr(d->full_name, ':'),
		   *name = strchr(d->name, ':');
	char glob[USER_PREFIX_MAX], user[USER_PREFIX_MAX];

	if (!colon || !full || !name || colon - option >= USER_PREFIX_MAX)
		return false;
	snprintf(glob, sizeof(glob), "%.*s", (int)(colon - option), option);
	snprintf(user, sizeof(user), "%.*s", (int)(full - d->full_name), d->full_name);
	return (glob_match(glob, user) || glob_match(glob, key->text)) &&
	       (glob_match(colon + 1, full + 1) || glob_match(colon + 1, name + 1) ||
		match_id(colon + 1, key->text + GROUP_USER_SIZE));
}

bool group_is_unit(const struct group_key *key)
{
	return key->kind == GROUP_UNIT || key->kind == GROUP_USER;
}

bool group_option_fits(const char *option, const struct group_key *key,
		       const struct group_description *description)
{
	char text[GROUP_TEXT_MAX];
	struct group_key exact;

	if (key->kind == GROUP_USER_CONTAINER)
		return match_user_container(option, key, description);
	if (group_rule_key(option, key->kind, &exact) && !memcmp(&exact, key, sizeof(exact)))
		return true;
	snprintf(text, sizeof(text), "%.*s", (int)sizeof(key->text), key->text);
	if (key->kind == GROUP_MACHINE)
		return match_escaped(option, text, description);
	return group_is_unit(key) ? match_unit(option, text, description)
				  : match_container(option, text, description);
}

bool group_matches(const struct service_config *service, const struct group_key *key,
		   const struct group_description *description)
{
	const struct strings *options = group_is_unit(key) ? &service->units : &service->containers;

	if (key->kind == GROUP_COMMAND)
		return false;
	for (size_t i = 0; i < options->count; i++)
		if (group_option_fits(options->item[i], key, description))
			return true;
	return false;
}

uint32_t group_row(const struct config *config, const struct group_key *key,
		   const struct group_description *description)
{
	for (size_t i = 0; i < config->service_count; i++)
		if (group_matches(&config->services[i], key, description))
			return SERVICE_FIRST + (uint32_t)i;
	return 0;
}

/* The key that the kernel makes of such a directory; false: one of another kind. */
static bool make_directory_key(const char *before, const char *option, const char *after,
			       enum group_kind kind, struct group_key *ret_key)
{
	struct group_walk walk = { .parent = kind == GROUP_CONTAINERD ? GROUP_BELOW_CONTAINERD
								      : GROUP_BELOW_ANY };
	int length = snprintf(walk.name, sizeof(walk.name), "%s%s%s", before, option, after);

	if (length >= GROUP_DIRECTORY_MAX)
		return false;
	walk.length = (__u32)length;
	group_step(&walk);
	if (walk.key.kind != kind)
		return false;
	*ret_key = walk.key;
	return true;
}

/* systemd may or may not escape other characters. */
static bool is_plain_name(const char *text)
{
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && *text != '_' && *text != '.')
			return false;
	return true;
}

bool group_rule_key(const char *option, enum group_kind kind, struct group_key *ret_key)
{
	struct group_key key = { .kind = kind };

	if (glob_has_wildcard(option) || strchr(option, '/'))
		return false;
	switch (kind) {
	case GROUP_COMMAND:
	case GROUP_USER_CONTAINER:
		return false;
	case GROUP_UNIT:
		return make_directory_key(option[0] == '_' ? "_" : "", option,
					  option[unit_base_length(option)] ? "" : ".service", kind,
					  ret_key);
	case GROUP_USER:
		return make_directory_key("", option,
					  option[unit_base_length(option)] ? "" : ".slice", kind,
					  ret_key);
	case GROUP_LXC:
		return make_directory_key("lxc.payload.", option, "", kind, ret_key);
	case GROUP_MACHINE:
		return is_plain_name(option) &&
		       make_directory_key("systemd-nspawn@", option, ".service", kind, ret_key);
	case GROUP_CONTAINERD:
		if (!runtime_is_id(option))
			return make_directory_key("", option, "", kind, ret_key);
		break;
	default:
		break;
	}
	if (!runtime_is_id(option))
		return false;
	memcpy(key.text, option, GROUP_ID_LENGTH);
	*ret_key = key;
	return true;
}

/* Has no other unit a name that match_unit() compares with this one? A dash or an underscore may stand for an
 * escaped character, x2d for an escape that has lost its backslash; a dash may belong to a user's name. */
static bool is_only_spelling(const char *unit)
{
	for (; *unit; unit++) {
		if (!isalnum((unsigned char)*unit) && !strchr(".:@\\", *unit))
			return false;
		if (*unit == 'x' && isxdigit((unsigned char)unit[1]) &&
		    isxdigit((unsigned char)unit[2]))
			return false;
	}
	return true;
}

static bool unit_needs_names(const struct service_config *service)
{
	struct group_key key;

	for (size_t i = 0; i < service->units.count; i++) {
		const char *option = service->units.item[i];

		if (!is_only_spelling(option) || !group_rule_key(option, GROUP_UNIT, &key))
			return true;
	}
	return false;
}

unsigned groups_need_names(const struct config *config)
{
	unsigned sources = 0;

	for (size_t i = 0; i < config->service_count; i++) {
		const struct service_config *service = &config->services[i];

		sources |= unit_needs_names(service) ? SERVICES_FROM_UNITS : 0;
		sources |= service->containers.count ? SERVICES_FROM_CONTAINERS : 0;
	}
	return sources;
}

bool groups_have_user_containers(const struct config *config)
{
	return state_is_readable() &&
	       (config->services_from | groups_need_names(config)) & SERVICES_FROM_CONTAINERS;
}
