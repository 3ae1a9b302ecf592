/* SPDX-License-Identifier: MIT */
/*
 * Names of users, from /etc/passwd alone: a name service may wait for a network, and runs code of
 * others in the daemon.
 */
#include "user.h"

#include "util/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PASSWD "/etc/passwd"
#define PASSWD_SIZE_MAX (1 << 20)
#define PASSWD_WAIT_MS 500
#define PERIOD_NS (60 * NS_PER_S)

struct user {
	uint32_t id;
	uint32_t line;
	char name[USER_NAME_MAX];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool wanted;
static struct user *users; /* in the order of their ids */
static size_t user_count;
static uint64_t due_ns;

void users_want(void)
{
	pthread_mutex_lock(&lock);
	wanted = true;
	pthread_mutex_unlock(&lock);
}

static bool is_wanted(void)
{
	bool is;

	pthread_mutex_lock(&lock);
	is = wanted;
	pthread_mutex_unlock(&lock);
	return is;
}

/* NAME:PASSWORD:ID:... */
static bool parse_line(const char *line, struct user *user)
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
	return true;
}

static int by_id(const void *left, const void *right)
{
	const struct user *a = left, *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static void take(struct user *list, size_t count)
{
	struct user *old;

	pthread_mutex_lock(&lock);
	old = users;
	users = list;
	user_count = count;
	pthread_mutex_unlock(&lock);
	free(old);
}

int users_parse(char *text)
{
	struct user *list = calloc(USERS_MAX, sizeof(*list)), *fitting;
	size_t count = 0, kept = 0;
	char *line;

	if (!list)
		return -ENOMEM;
	while (count < USERS_MAX && (line = strsep(&text, "\n"))) {
		list[count].line = (uint32_t)count;
		count += parse_line(line, &list[count]);
	}
	qsort(list, count, sizeof(*list), by_id);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || list[i].id != list[i - 1].id)
			list[kept++] = list[i];
	fitting = kept ? realloc(list, kept * sizeof(*list)) : NULL;
	take(fitting ?: list, kept);
	return 0;
}

void users_refresh(struct file_reader *files, uint64_t now_ns)
{
	const struct file_request request = {
		.path = PASSWD,
		.size_max = PASSWD_SIZE_MAX,
		.cut = true,
		.follow = true,
		.wait_ms = PASSWD_WAIT_MS,
		.share = FILE_OF_ROOT,
	};
	struct file file;

	if (now_ns < due_ns || !is_wanted())
		return;
	due_ns = now_ns + PERIOD_NS;
	if (file_read(files, &request, &file))
		return;
	users_parse(file.bytes);
	free(file.bytes);
}

static int by_number(const void *key, const void *element)
{
	const uint64_t *id = key;
	const struct user *user = element;

	return *id < user->id ? -1 : *id > user->id;
}

bool user_name(uint64_t id, char *to, size_t size)
{
	const struct user *found;

	pthread_mutex_lock(&lock);
	found = user_count ? bsearch(&id, users, user_count, sizeof(*users), by_number) : NULL;
	if (found)
		snprintf(to, size, "%s", found->name);
	pthread_mutex_unlock(&lock);
	return found != NULL;
}

void users_done(void)
{
	take(NULL, 0);
	wanted = false;
	due_ns = 0;
}
