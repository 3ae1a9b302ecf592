/* SPDX-License-Identifier: MIT */
/*
 * Containers whose names no state of a runtime has.
 */
#include "unnamed.h"

#include "cgroup/runtime.h"
#include "cgroup/state.h"
#include "util/message.h"

#include <stdio.h>

#define LOG_PERIOD_NS (3600 * NS_PER_S)
#define DIRECTORIES_TEXT_MAX 512 /* bytes in a message */

void unnamed_add(struct unnamed *unnamed, const char *id)
{
	if (unnamed->count < UNNAMED_SHOWN_MAX)
		snprintf(unnamed->ids[unnamed->count], SUBJECT_NAME_MAX, "%s", id);
	unnamed->count++;
}

static void write_ids(const struct unnamed *unnamed, char *to, size_t size)
{
	unsigned shown = unnamed->count < UNNAMED_SHOWN_MAX ? unnamed->count : UNNAMED_SHOWN_MAX;
	size_t length = 0;

	for (unsigned i = 0; i < shown && length < size; i++)
		length += (size_t)snprintf(to + length, size - length, "%s%s", i ? ", " : "",
					   unnamed->ids[i]);
	if (unnamed->count > shown && length < size)
		snprintf(to + length, size - length, " and %u more", unnamed->count - shown);
}

void unnamed_log(struct unnamed *unnamed, const struct runtimes *runtimes, uint64_t now_ns)
{
	char ids[UNNAMED_SHOWN_MAX * SUBJECT_NAME_MAX + 32], directories[DIRECTORIES_TEXT_MAX];

	if (!unnamed->count || (unnamed->logged_ns && now_ns - unnamed->logged_ns < LOG_PERIOD_NS))
		return;
	write_ids(unnamed, ids, sizeof(ids));
	runtimes_text(runtimes, directories, sizeof(directories));
	if (!state_is_readable())
		message(LOG_WARNING,
			"containers are named by their ids (%s), as the plugin was built without "
			"libjansson; build it with libjansson",
			ids);
	else
		message(LOG_WARNING,
			"containers are named by their ids (%s), as no state of their runtime was "
			"found; looked in %s; if the runtime keeps its state elsewhere, name the "
			"directory by ContainerState",
			ids,
			directories[0] ? directories : "no directory, as there is no known one");
	unnamed->count = 0;
	unnamed->logged_ns = now_ns;
}
