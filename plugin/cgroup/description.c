/* SPDX-License-Identifier: MIT */
/*
 * The names that units, users and containers have in series.
 *
 *     unit            its name without escapes: my-app
 *     user-1000       user-NAME
 *     a user's        user-NAME:CONTAINER; no user's name has a colon
 *     container       NAME, in a pod NAMESPACE_POD_NAME
 *     machine, LXC    its name
 *
 * If two users or containers have one name at the same time, the later one is user-UID or NAME-ID.
 */
#include "description.h"

#include "runtime.h"
#include "util/clock.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHORT_ID_LENGTH 12 /* digits */

/* A text that is too long ends with + and a hash of the whole text. */
static void fit_name(char to[SUBJECT_TEXT_MAX], const char *text, const char *end)
{
	size_t room = SUBJECT_TEXT_MAX - strlen(end);

	if (strlen(text) < room)
		sprintf(to, "%s%s", text, end);
	else
		sprintf(to, "%.*s+%08x%s", (int)(room - 1 - NAME_SUFFIX_LENGTH), text,
			(unsigned)file_number(text), end);
}

static int hex_digit(char c)
{
	return isdigit((unsigned char)c)    ? c - '0'
	       : isxdigit((unsigned char)c) ? (c | 32) - 'a' + 10
					    : -1;
}

/* systemd escapes bytes that a unit's name must not have, and dashes that are no slashes, as \xHH. */
static void unescape_unit(char *to, const char *text)
{
	while (*text) {
		int high = text[0] == '\\' && text[1] == 'x' ? hex_digit(text[2]) : -1;
		int low = high >= 0 ? hex_digit(text[3]) : -1;

		if (low >= 0 && high + low > 0) {
			*to++ = (char)(high << 4 | low);
			text += 4;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

static int describe_unit(const char *text, struct group_description *ret)
{
	unescape_unit(ret->full_name, text);
	fit_name(ret->name, ret->full_name, "");
	fit_name(ret->other_name, ret->full_name, "");
	return 0;
}

static int describe_user(const char *text, struct users *users, struct file_helper *files,
			 struct group_description *ret)
{
	char name[USER_NAME_MAX];

	users_want(users);
	users_refresh(users, files, clock_ns());
	if (!strncmp(text, "user-", 5) &&
	    user_name(users, strtoull(text + 5, NULL, 10), name, sizeof(name)))
		snprintf(ret->full_name, sizeof(ret->full_name), "user-%s", name);
	else
		snprintf(ret->full_name, sizeof(ret->full_name), "%s", text);
	fit_name(ret->name, ret->full_name, "");
	fit_name(ret->other_name, text, "");
	return 0;
}

/* A container without an id: its name is unique in its runtime. */
static int describe_named(const char *text, enum group_kind kind, struct group_description *ret)
{
	static const char *const ends[] = {
		[GROUP_CONTAINERD] = "-containerd",
		[GROUP_LXC] = "-lxc",
		[GROUP_MACHINE] = "-machine",
	};
	const char *end = kind < sizeof(ends) / sizeof(*ends) ? ends[kind] : NULL;

	if (kind == GROUP_MACHINE)
		unescape_unit(ret->full_name, text);
	else
		snprintf(ret->full_name, sizeof(ret->full_name), "%s", text);
	fit_name(ret->name, ret->full_name, "");
	fit_name(ret->other_name, ret->full_name, end ?: "-container");
	return 0;
}

/* prefix: that of a user's container, or "". */
static void describe_container(struct container *container, const char *prefix, const char *id,
			       struct group_description *ret)
{
	char end[SHORT_ID_LENGTH + 2], text[CONTAINER_TEXT_MAX], settled[GROUP_FULL_NAME_MAX];

	snprintf(end, sizeof(end), "-%.*s", SHORT_ID_LENGTH, id);
	container_text(container, text);
	snprintf(ret->full_name, sizeof(ret->full_name), "%s%s", prefix,
		 container->given[0] ? container->given : text);
	ret->is_sandbox = container->is_sandbox;
	container_settle(container);
	ret->workload = container->workload;
	container_text(container, text);
	snprintf(settled, sizeof(settled), "%s%s", prefix, text);
	fit_name(ret->name, settled, "");
	fit_name(ret->other_name, settled, end);
}

static int describe_id(const struct group_key *key, struct container_names *containers,
		       struct file_helper *files, struct group_description *ret)
{
	char end[SHORT_ID_LENGTH + 2];
	struct container container;
	int status = container_name(containers, key, files, &container);

	if (status == 0) {
		describe_container(&container, "", key->text, ret);
		return 0;
	}
	snprintf(end, sizeof(end), "-%.*s", SHORT_ID_LENGTH, key->text);
	snprintf(ret->full_name, sizeof(ret->full_name), "%s", end + 1);
	fit_name(ret->name, ret->full_name, "");
	fit_name(ret->other_name, "container", end);
	ret->is_id = true;
	return status == -EAGAIN ? -EAGAIN : 0;
}

/* One that no state confirms is described as its user. */
static int describe_user_container(const struct group_key *key, struct users *users,
				   struct container_names *containers, struct file_helper *files,
				   struct group_description *ret)
{
	char prefix[USER_PREFIX_MAX];
	struct container container;
	int status;

	describe_user(key->text, users, files, ret);
	memcpy(ret->other_name, ret->name, sizeof(ret->other_name));
	status = container_name(containers, key, files, &container);
	ret->is_unconfirmed = status || container.is_sandbox;
	if (ret->is_unconfirmed)
		return status == -EAGAIN ? -EAGAIN : 0;
	snprintf(prefix, sizeof(prefix), "%.*s:", USER_PREFIX_MAX - 2, ret->full_name);
	describe_container(&container, prefix, key->text + GROUP_USER_SIZE, ret);
	return 0;
}

int group_describe(const struct group_key *key, struct users *users,
		   struct container_names *containers, struct file_helper *files,
		   struct group_description *ret)
{
	struct group_description description = { 0 };
	char text[GROUP_TEXT_MAX];
	int status;

	snprintf(text, sizeof(text), "%.*s", (int)sizeof(key->text), key->text);
	if (key->kind == GROUP_USER_CONTAINER)
		status = describe_user_container(key, users, containers, files, &description);
	else if (key->kind == GROUP_USER)
		status = describe_user(text, users, files, &description);
	else if (key->kind < GROUP_CONTAINER)
		status = describe_unit(text, &description);
	else if (runtime_is_id(text))
		status = describe_id(key, containers, files, &description);
	else
		status = describe_named(text, key->kind, &description);
	*ret = description;
	return status;
}
