/* SPDX-License-Identifier: MIT */
/*
 * The collectd daemon, as far as the plugin uses it: an excerpt of types.db, a dispatcher and a log
 * that record, and callbacks that a test calls itself.
 */
#include "daemon.h"

#include <configfile.h>
#include <globals.h>
#include <utils_cache.h>

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dispatched {
	char identifier[3 * DATA_MAX_NAME_LEN];
	const data_set_t *set;
	value_t *values;
	cdtime_t time, interval;
};

struct logged {
	int severity;
	char *text;
};

struct notified {
	int severity;
	char identifier[5 * DATA_MAX_NAME_LEN];
	char text[NOTIF_MAX_MSG_LEN];
};

struct daemon_callbacks daemon_callbacks;
cdtime_t daemon_now = TIME_T_TO_CDTIME_T_STATIC(1000);
void (*daemon_on_dispatch)(const char *subject);

/* Several threads may dispatch at once. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct dispatched *dispatched;
static size_t dispatched_count, refused_count;
static struct logged *logged;
static size_t logged_count;
static struct notified *notified;
static size_t notified_count;
static char hostname[] = "testhost";
char *hostname_g = hostname;

#define SOURCE(name, kind)                     \
	{                                      \
		name, DS_TYPE_##kind, NAN, NAN \
	}
#define SOURCES(...)        \
	(data_source_t[])   \
	{                   \
		__VA_ARGS__ \
	}
#define ONE(type, kind)                                 \
	{                                               \
		type, 1, SOURCES(SOURCE("value", kind)) \
	}
#define TWO(type, a, b, kind)                                      \
	{                                                          \
		type, 2, SOURCES(SOURCE(a, kind), SOURCE(b, kind)) \
	}

/* As in the stock types.db, except the last one. */
static const data_set_t types[] = {
	ONE("absolute", ABSOLUTE),
	ONE("bucket", GAUGE),
	ONE("contextswitch", DERIVE),
	ONE("count", GAUGE),
	ONE("counter", COUNTER),
	ONE("delay_rate", GAUGE),
	ONE("derive", DERIVE),
	TWO("disk_octets", "read", "write", DERIVE),
	ONE("duration", GAUGE),
	ONE("gauge", GAUGE),
	TWO("if_octets", "rx", "tx", DERIVE),
	TWO("io_octets", "rx", "tx", DERIVE),
	TWO("io_ops", "read", "write", DERIVE),
	ONE("irq", DERIVE),
	ONE("latency", GAUGE),
	ONE("memory", GAUGE),
	ONE("objects", GAUGE),
	ONE("operations_per_second", GAUGE),
	ONE("percent", GAUGE),
	TWO("ps_count", "processes", "threads", GAUGE),
	TWO("ps_cputime", "user", "syst", DERIVE),
	TWO("ps_pagefaults", "minflt", "majflt", DERIVE),
	ONE("ps_rss", GAUGE),
	ONE("ps_vm", GAUGE),
	ONE("response_time", GAUGE),
	ONE("swap", GAUGE),
	ONE("total_connections", DERIVE),
	ONE("total_events", DERIVE),
	ONE("total_requests", DERIVE),
	ONE("total_time_in_ms", DERIVE),
	{ "nine", 9,
	  SOURCES(SOURCE("a", GAUGE), SOURCE("b", GAUGE), SOURCE("c", GAUGE), SOURCE("d", GAUGE),
		  SOURCE("e", GAUGE), SOURCE("f", GAUGE), SOURCE("g", GAUGE), SOURCE("h", GAUGE),
		  SOURCE("i", GAUGE)) },
};

/* Aborts without memory. */
static void *grown(void *array, size_t count, size_t size)
{
	array = reallocarray(array, count, size);
	if (!array)
		abort();
	return array;
}

const data_set_t *plugin_get_ds(const char *name)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (!strcmp(types[i].type, name))
			return &types[i];
	return NULL;
}

cdtime_t cdtime(void)
{
	return daemon_now;
}

cdtime_t plugin_get_interval(void)
{
	return TIME_T_TO_CDTIME_T(10);
}

static const struct dispatched *find(const char *identifier)
{
	for (size_t i = dispatched_count; i-- > 0;)
		if (!strcmp(dispatched[i].identifier, identifier))
			return &dispatched[i];
	return NULL;
}

static bool bad_name(const char *name)
{
	return name[0] == '\0' || strchr(name, '/');
}

static const char *why_refused(const value_list_t *vl, const char *identifier)
{
	const data_set_t *set = plugin_get_ds(vl->type);
	const struct dispatched *before = find(identifier);

	if (!set)
		return "no such type";
	if (set->ds_num != vl->values_len)
		return "not as many values as its type has";
	if (strcmp(vl->plugin, "ebpf") != 0 || bad_name(vl->plugin_instance) ||
	    strchr(vl->type_instance, '/'))
		return "bad name";
	if (before && before->time >= vl->time)
		return "value too old";
	return NULL;
}

static int record(const value_list_t *vl)
{
	struct dispatched *d;
	char identifier[sizeof(d->identifier)];
	const char *why;

	snprintf(identifier, sizeof(identifier), "%s/%s%s%s", vl->plugin_instance, vl->type,
		 vl->type_instance[0] ? "-" : "", vl->type_instance);
	why = why_refused(vl, identifier);
	if (why) {
		printf("collectd refuses %s: %s\n", identifier, why);
		refused_count++;
		return -1;
	}
	dispatched = grown(dispatched, dispatched_count + 1, sizeof(*dispatched));
	d = &dispatched[dispatched_count++];
	*d = (struct dispatched){
		.set = plugin_get_ds(vl->type),
		.values = grown(NULL, vl->values_len, sizeof(*d->values)),
		.time = vl->time,
		.interval = vl->interval,
	};
	memcpy(d->identifier, identifier, sizeof(identifier));
	memcpy(d->values, vl->values, vl->values_len * sizeof(*d->values));
	return 0;
}

int plugin_dispatch_values(value_list_t const *vl)
{
	int status;

	if (daemon_on_dispatch)
		daemon_on_dispatch(vl->plugin_instance);
	pthread_mutex_lock(&lock);
	status = record(vl);
	pthread_mutex_unlock(&lock);
	return status;
}

static long double to_real(value_t value, int type)
{
	switch (type) {
	case DS_TYPE_GAUGE:
		return value.gauge;
	case DS_TYPE_DERIVE:
		return value.derive;
	default:
		return value.counter;
	}
}

long double daemon_value(const char *identifier, const char *source)
{
	long double value = DAEMON_NONE;
	const struct dispatched *d;

	pthread_mutex_lock(&lock);
	d = find(identifier);
	for (size_t i = 0; d && i < d->set->ds_num; i++)
		if (!strcmp(d->set->ds[i].name, source))
			value = to_real(d->values[i], d->set->ds[i].type);
	pthread_mutex_unlock(&lock);
	return value;
}

long double daemon_gauge(const char *identifier)
{
	return daemon_value(identifier, "value");
}

bool daemon_when(const char *identifier, double *ret_time_s, double *ret_interval_s)
{
	const struct dispatched *d = find(identifier);

	if (!d)
		return false;
	*ret_time_s = CDTIME_T_TO_DOUBLE(d->time);
	*ret_interval_s = CDTIME_T_TO_DOUBLE(d->interval);
	return true;
}

size_t daemon_dispatched(void)
{
	return dispatched_count;
}

size_t daemon_refused(void)
{
	return refused_count;
}

void daemon_print(void)
{
	for (size_t i = 0; i < dispatched_count; i++) {
		const struct dispatched *d = &dispatched[i];

		printf("%s", d->identifier);
		for (size_t j = 0; j < d->set->ds_num; j++)
			printf(" %s=%.18Lg", d->set->ds[j].name,
			       to_real(d->values[j], d->set->ds[j].type));
		printf("\n");
	}
}

void daemon_record(int severity, const char *text)
{
	logged = grown(logged, logged_count + 1, sizeof(*logged));
	logged[logged_count].severity = severity;
	logged[logged_count].text = strdup(text);
	if (!logged[logged_count++].text)
		abort();
}

void plugin_log(int level, const char *format, ...)
{
	char text[4096];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	daemon_record(level, text);
}

size_t daemon_messages(void)
{
	return logged_count;
}

const char *daemon_message(size_t i)
{
	return i < logged_count ? logged[i].text : "";
}

int daemon_severity(size_t i)
{
	return i < logged_count ? logged[i].severity : -1;
}

const char *daemon_caller = "ebpf";

plugin_ctx_t plugin_get_ctx(void)
{
	return (plugin_ctx_t){ .name = (char *)daemon_caller };
}

int plugin_register_notification(const char *name, plugin_notification_cb callback,
				 const user_data_t *data)
{
	(void)name;
	(void)data;
	daemon_callbacks.notification = callback;
	return 0;
}

int plugin_register_cache_event(const char *name, plugin_cache_event_cb callback,
				const user_data_t *data)
{
	(void)name;
	(void)callback;
	(void)data;
	return 0;
}

unsigned daemon_begun_okay;

int uc_set_state(const data_set_t *set, const value_list_t *vl, int state)
{
	(void)vl;
	daemon_begun_okay += set && state == STATE_OKAY;
	return STATE_UNKNOWN;
}

int plugin_dispatch_notification(const notification_t *n)
{
	struct notified *at;

	notified = grown(notified, notified_count + 1, sizeof(*notified));
	at = &notified[notified_count++];
	at->severity = n->severity;
	snprintf(at->identifier, sizeof(at->identifier), "%s/%s/%s/%s-%s", n->host, n->plugin,
		 n->plugin_instance, n->type, n->type_instance);
	snprintf(at->text, sizeof(at->text), "%s", n->message);
	return 0;
}

size_t daemon_notifications(void)
{
	return notified_count;
}

bool daemon_notified(int severity, const char *identifier, const char *text)
{
	for (size_t i = 0; i < notified_count; i++)
		if (notified[i].severity == severity &&
		    !strcmp(notified[i].identifier, identifier) && strstr(notified[i].text, text))
			return true;
	return false;
}

void daemon_clear(void)
{
	free(notified);
	notified = NULL;
	notified_count = 0;
	for (size_t i = 0; i < dispatched_count; i++)
		free(dispatched[i].values);
	for (size_t i = 0; i < logged_count; i++)
		free(logged[i].text);
	free(dispatched);
	free(logged);
	dispatched = NULL;
	logged = NULL;
	dispatched_count = refused_count = logged_count = 0;
}

int plugin_register_complex_config(const char *type, int (*callback)(oconfig_item_t *))
{
	(void)type;
	daemon_callbacks.config = callback;
	return 0;
}

int plugin_register_init(const char *name, plugin_init_cb callback)
{
	(void)name;
	daemon_callbacks.init = callback;
	return 0;
}

const char *daemon_base_dir = "/nonexistent";

const char *global_option_get(const char *option)
{
	return strcmp(option, "BaseDir") ? NULL : daemon_base_dir;
}

int plugin_register_shutdown(const char *name, plugin_shutdown_cb callback)
{
	(void)name;
	daemon_callbacks.shutdown = callback;
	return 0;
}

int plugin_register_complex_read(const char *group, const char *name, plugin_read_cb callback,
				 cdtime_t interval, user_data_t const *user_data)
{
	struct daemon_read *read = &daemon_callbacks.read[daemon_callbacks.read_count++];

	(void)group;
	if (daemon_callbacks.read_count > DAEMON_READS_MAX)
		abort();
	snprintf(read->name, sizeof(read->name), "%s", name);
	read->call = callback;
	read->interval = interval;
	read->data = *user_data;
	return 0;
}
