/* SPDX-License-Identifier: MIT */
/*
 * Searches in the daemon's log.
 */
#ifndef MESSAGES_H
#define MESSAGES_H

#include "tests/unit/fake/daemon.h"

#include <string.h>

/* The only message with this text, "" if there is none, "several". */
static inline const char *message_with(const char *text)
{
	const char *found = "";

	for (size_t i = 0; i < daemon_messages(); i++)
		if (strstr(daemon_message(i), text))
			found = *found ? "several" : daemon_message(i);
	return found;
}

static inline size_t messages_with(const char *text)
{
	size_t count = 0;

	for (size_t i = 0; i < daemon_messages(); i++)
		count += strstr(daemon_message(i), text) != NULL;
	return count;
}

static inline int severity_with(const char *text)
{
	for (size_t i = 0; i < daemon_messages(); i++)
		if (strstr(daemon_message(i), text))
			return daemon_severity(i);
	return -1;
}

#endif
