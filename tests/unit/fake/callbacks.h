/* SPDX-License-Identifier: MIT */
/*
 * Calls the plugin as the daemon does: configures, starts, reads and stops it.
 */
#ifndef CALLBACKS_H
#define CALLBACKS_H

#include "daemon.h"
#include "oconfig.h"
#include "tests/unit/may_load.h"
#include "tests/unit/messages.h"
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <unistd.h>

void module_register(void);

/* No events are kept, unless the text has a file for them. */
static inline void configure(const char *text)
{
	const char *first = strstr(text, "EventFile ") ? "" : "EventFile \"\"\n";
	char *whole = malloc(strlen(first) + strlen(text) + 1);
	oconfig_item_t *block;

	if (!whole)
		abort();
	strcpy(stpcpy(whole, first), text);
	block = oconfig_read(whole);
	CHECK_INT(daemon_callbacks.config(block), 0);
	oconfig_free(block);
	free(whole);
}

/* The daemon drops the callbacks at shutdown, too. */
static inline void stop(void)
{
	CHECK_INT(daemon_callbacks.shutdown(), 0);
	daemon_callbacks.read_count = 0;
}

static inline const struct daemon_read *read_named(const char *name)
{
	for (size_t i = 0; i < daemon_callbacks.read_count; i++)
		if (!strcmp(daemon_callbacks.read[i].name, name))
			return &daemon_callbacks.read[i];
	return NULL;
}

static inline double interval_of(const char *name)
{
	const struct daemon_read *read = read_named(name);

	return read ? CDTIME_T_TO_DOUBLE(read->interval) : 0;
}

static inline void read_all(void)
{
	daemon_clear();
	daemon_now += TIME_T_TO_CDTIME_T(10);
	for (size_t i = 0; i < daemon_callbacks.read_count; i++) {
		struct daemon_read *read = &daemon_callbacks.read[i];

		CHECK_INT(read->call(&read->data), 0);
	}
	CHECK_UINT(daemon_refused(), 0);
}

#endif
