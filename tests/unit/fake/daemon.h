/* SPDX-License-Identifier: MIT */
#ifndef DAEMON_H
#define DAEMON_H

#include <collectd.h>

#include <plugin.h>

#include <stdbool.h>
#include <stddef.h>

#define DAEMON_READS_MAX 8

/* What the plugin has registered. */
struct daemon_callbacks {
	int (*config)(oconfig_item_t *block);
	int (*init)(void);
	int (*shutdown)(void);
	struct daemon_read {
		char name[DATA_MAX_NAME_LEN];
		plugin_read_cb call;
		cdtime_t interval;
		user_data_t data;
	} read[DAEMON_READS_MAX];
	size_t read_count;
	plugin_notification_cb notification;
};
extern struct daemon_callbacks daemon_callbacks;

/* Whose code calls now: what plugin_get_ctx() says. */
extern const char *daemon_caller;

/* What cdtime() says. */
extern cdtime_t daemon_now;

/* Called for each value list, with its plugin instance, before it is taken; may take any time. */
extern void (*daemon_on_dispatch)(const char *subject);

/* Forgets what was dispatched and logged. */
void daemon_clear(void);

/* How many value lists were dispatched, and how many of them collectd would
 * have refused: unknown type, another number of values, bad name, or a second
 * value of one time. */
size_t daemon_dispatched(void);
size_t daemon_refused(void);

/* A data source of what was dispatched last as PLUGIN_INSTANCE/TYPE[-INSTANCE];
 * long double holds all of a 64 bit integer. DAEMON_NONE: there is none. */
#define DAEMON_NONE (-HUGE_VALL)
long double daemon_value(const char *identifier, const char *source);

/* Its only one. */
long double daemon_gauge(const char *identifier);

/* Time and interval of what was dispatched last under this name, in seconds. */
bool daemon_when(const char *identifier, double *ret_time_s, double *ret_interval_s);

/* How many notifications were dispatched since daemon_clear; and whether one of them is of this
 * severity, about this series and with this text. */
size_t daemon_notifications(void);
bool daemon_notified(int severity, const char *identifier, const char *text);

/* Prints all that was dispatched. */
void daemon_print(void);

/* Takes a message, as message_to() wants it. */
void daemon_log(int severity, const char *text);
size_t daemon_messages(void);
/* The i-th message, or "". */
const char *daemon_message(size_t i);
int daemon_severity(size_t i);

#endif
