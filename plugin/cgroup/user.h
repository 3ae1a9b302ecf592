/* SPDX-License-Identifier: MIT */
#ifndef EBPF_USER_H
#define EBPF_USER_H

#include "helper/file.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define USERS_MAX 16384
#define USER_NAME_MAX 33 /* with the NUL */
#define USER_HOME_MAX 128

/* The users of /etc/passwd. */
struct users {
	pthread_mutex_t lock; /* of all but due_ns */
	bool wanted;
	struct user_entry *entries; /* in the order of their ids */
	size_t count;
	uint64_t due_ns; /* of the next read */
};

void users_init(struct users *users);

/* Names are needed: users_refresh() reads them from now on. */
void users_want(struct users *users);

/* Reads /etc/passwd if names are wanted, at most once a minute. When the file cannot be read the names
 * stay as they are. One thread at a time. */
void users_refresh(struct users *users, struct file_helper *files, uint64_t now_ns);

/* Replaces the names by those in the text of such a file; the text is changed. Malformed lines are
 * skipped; the first name of an id counts. 0 or -ENOMEM. */
int users_parse(struct users *users, char *text);

/* Writes the name of a user; false: it is unknown. Any thread. */
bool user_name(struct users *users, uint64_t id, char *to, size_t size);

/* Writes the home of a user; false: it is unknown, too long, or no absolute path. Any thread. */
bool user_home(struct users *users, uint64_t id, char to[USER_HOME_MAX]);

void users_done(struct users *users);

#endif
