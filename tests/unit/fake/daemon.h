/* SPDX-License-Identifier: MIT */
#ifndef DAEMON_H
#define DAEMON_H

#include <collectd.h>

#include <plugin.h>

#include <stdbool.h>
#include <stddef.h>

#define DAEMON_READS_MAX 8

/* Callbacks that the plugin has registered. */
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

/* The plugin that plugin_get_ctx() names. */
extern const char *daemon_caller;

/* Its BaseDir. */
extern const char *daemon_base_dir;

/* The time that cdtime() returns. */
extern cdtime_t daemon_now;

/* Called for each value list before it is recorded, with its plugin instance; may block. */
extern void (*daemon_on_dispatch)(const char *subject);

/* Forgets all values, notifications and messages. */
void daemon_clear(void);

/* How many value lists were dispatched, and how many of them collectd would have refused: an
 * unknown type, a wrong number of values, an invalid name, or a second value for the same time. */
size_t daemon_dispatched(void);
size_t daemon_refused(void);

/* A data source of the last value list of PLUGIN_INSTANCE/TYPE[-INSTANCE], or DAEMON_NONE. A
 * long double holds any 64-bit integer. */
#define DAEMON_NONE (-HUGE_VALL)
long double daemon_value(const char *identifier, const char *source);

/* The same for types with one data source. */
long double daemon_gauge(const char *identifier);

/* Time and interval of the last value list of this name, in seconds; false: there is none. */
bool daemon_when(const char *identifier, double *ret_time_s, double *ret_interval_s);

/* How many series uc_set_state() has made okay. */
extern unsigned daemon_begun_okay;

/* How many notifications were dispatched since daemon_clear(), and whether one of them has this
 * severity, series and text. */
size_t daemon_notifications(void);
bool daemon_notified(int severity, const char *identifier, const char *text);

/* Prints all value lists. */
void daemon_print(void);

/* Records a message; to be passed to message_to(). */
void daemon_record(int severity, const char *text);
size_t daemon_messages(void);
/* The i-th message, or "". */
const char *daemon_message(size_t i);
int daemon_severity(size_t i);

#endif
