/* SPDX-License-Identifier: MIT */
/*
 * Names and homes of users, from /etc/passwd only: the name services of libc may wait for the network, and load
 * foreign code into the daemon.
 */
#include "user.h"

#include "util/clock.h"
#include "util/lock.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PASSWD "/etc/passwd"
#define PASSWD_SIZE_MAX (1 << 20)
#define PASSWD_WAIT_MS 500
#define PERIOD_NS (60 * NS_PER_S)

struct user_entry {
	uint32_t id;
	uint32_t line;
	char name[USER_NAME_MAX];
	char home[USER_HOME_MAX];
};

void users_init(struct users *users)
{
	*users = (struct users){ .lock = PTHREAD_MUTEX_INITIALIZER };
}

void users_want(struct users *users)
{
	lock_acquire(&users->lock);
	users->wanted = true;
	lock_release(&users->lock);
}

static bool are_users_wanted(struct users *users)
{
	bool wanted;

	lock_acquire(&users->lock);
	wanted = users->wanted;
	lock_release(&users->lock);
	return wanted;
}

/* The home is the third field from here on; one that is too long is left out. */
static void parse_passwd_home(const char *at, char home[USER_HOME_MAX])
{
	size_t length;

	for (unsigned fields = 0; at && fields < 3; fields++)
		at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL;
	length = at ? strcspn(at, ":") : 0;
	if (length >= USER_HOME_MAX)
		length = 0;
	memcpy(home, at ?: "", length);
	home[length] = '\0';
}

/* NAME:PASSWORD:ID:GROUP:COMMENT:HOME:... */
static bool parse_passwd_line(const char *line, struct user_entry *user)
{
	size_t length = strcspn(line, ":");
	const char *id = line[length] ? strchr(line + length + 1, ':') : NULL;
	char *end;
	unsigned long n;

	if (!id || length == 0 || length >= sizeof(user->name) || id[1] < '0' || id[1] > '9')
		return false;
	errno = 0;
	n = strtoul(id + 1, &end, 10);
	if (errno || *end != ':' || n >= UINT32_MAX)
		return false;
	memcpy(user->name, line, length);
	user->name[length] = '\0';
	user->id = (uint32_t)n;
	parse_passwd_home(end, user->home);
	return true;
}

static int compare_user_entries(const void *left, const void *right)
{
	const struct user_entry *a = left, *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static void replace_users(struct users *users, struct user_entry *list, size_t count)
{
	struct user_entry *old;

	lock_acquire(&users->lock);
	old = users->entries;
	users->entries = list;
	users->count = count;
	lock_release(&users->lock);
	free(old);
}

int users_parse(struct users *users, char *text)
{
	struct user_entry *list = calloc(USERS_MAX, sizeof(*list)), *fitting;
	size_t count = 0, unique = 0;
	char *line;

	if (!list)
		return -ENOMEM;
	while (count < USERS_MAX && (line = strsep(&text, "\n"))) {
		list[count].line = (uint32_t)count;
		count += parse_passwd_line(line, &list[count]);
	}
	qsort(list, count, sizeof(*list), compare_user_entries);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || list[i].id != list[i - 1].id)
			list[unique++] = list[i];
	fitting = unique ? realloc(list, unique * sizeof(*list)) : NULL;
	replace_users(users, fitting ?: list, unique);
	return 0;
}

void users_refresh(struct users *users, struct file_helper *files, uint64_t now_ns)
{
	const struct file_request request = {
		.path = PASSWD,
		.size_max = PASSWD_SIZE_MAX,
		.cut = true,
		.follow = true,
		.wait_ms = PASSWD_WAIT_MS,
		.budget = FILE_OF_ROOT,
	};
	struct file file;

	if (now_ns < users->due_ns || !are_users_wanted(users))
		return;
	users->due_ns = now_ns + PERIOD_NS;
	if (file_read(files, &request, &file))
		return;
	users_parse(users, file.bytes);
	free(file.bytes);
}

static int compare_user_id(const void *key, const void *element)
{
	const uint64_t *id = key;
	const struct user_entry *user = element;

	return *id < user->id ? -1 : *id > user->id;
}

/* With the lock held; NULL: the user is unknown. */
static const struct user_entry *find_user(const struct users *users, uint64_t id)
{
	return users->count ? bsearch(&id, users->entries, users->count, sizeof(*users->entries),
				      compare_user_id)
			    : NULL;
}

bool user_name(struct users *users, uint64_t id, char *to, size_t size)
{
	const struct user_entry *found;

	lock_acquire(&users->lock);
	found = find_user(users, id);
	if (found)
		snprintf(to, size, "%s", found->name);
	lock_release(&users->lock);
	return found != NULL;
}

bool user_home(struct users *users, uint64_t id, char to[USER_HOME_MAX])
{
	const struct user_entry *found;
	bool has_home;

	lock_acquire(&users->lock);
	found = find_user(users, id);
	has_home = found && found->home[0] == '/';
	if (has_home)
		memcpy(to, found->home, USER_HOME_MAX);
	lock_release(&users->lock);
	return has_home;
}

void users_done(struct users *users)
{
	replace_users(users, NULL, 0);
	users->wanted = false;
	users->due_ns = 0;
}
