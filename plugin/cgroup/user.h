/* SPDX-License-Identifier: MIT */
#ifndef EBPF_USER_H
#define EBPF_USER_H

#include "helper/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define USERS_MAX 16384
#define USER_NAME_MAX 33 /* with the NUL */

/* Somebody asks for names from now on. */
void users_want(void);

/* Reads /etc/passwd, where names are wanted, once a minute at most. What cannot be read leaves the
 * names as they are. Of one thread at a time. */
void users_refresh(struct file_reader *files, uint64_t now_ns);

/* Takes the names from the text of such a file, which is changed. Lines that are none are passed over;
 * of two names of one user the first counts. 0 or -ENOMEM. */
int users_parse(char *text);

/* Writes the name of a user; false: it is not known. Any thread. */
bool user_name(uint64_t id, char *to, size_t size);

void users_done(void);

#endif
