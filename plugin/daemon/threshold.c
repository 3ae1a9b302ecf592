/* SPDX-License-Identifier: MIT */
/*
 * Recognizes notifications of the plugin threshold about values of this host, and prevents those that
 * say nothing.
 *
 * The contents of a notification prove nothing: anybody who can send one through the network, a
 * socket (unixsock) or a program (exec) chooses them. No sender chooses which plugin's code
 * dispatches it. The daemon keeps that plugin's name for each thread, and does not change it while
 * it calls the receivers of notifications. It is "threshold" where a written value was compared
 * with its limits.
 *
 * threshold notifies of each change of a series' state, which collectd keeps. A new series has none,
 * so its first value would be notified as "within range again". A series therefore begins as okay,
 * unless its last notification was an alarm: it went missing, or ended in an alarm, and is back.
 */
#include "threshold.h"

#include "util/index.h"

#include <collectd.h>

#include <globals.h>
#include <plugin.h>
#include <utils_cache.h>

#include <string.h>
#include <strings.h>

#define PLUGIN_NAME "ebpf"
#define CHECKER "threshold"
#define VALUE "CurrentValue"
#define FROM_NETWORK "network:received"
#define ALARMS 16384

static bool alarms[ALARMS]; /* by the hash of a series' name */

static bool *alarm_of(const char *host, const char *instance, const char *type,
		      const char *type_instance)
{
	static const struct index unseeded;
	const char *const names[] = { host, instance, type, type_instance };
	uint64_t hash = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		hash = index_hash(&unseeded, hash, names[i], strlen(names[i]) + 1);
	return &alarms[hash % ALARMS];
}

static bool has_meta(const notification_t *n, const char *name)
{
	for (const notification_meta_t *meta = n->meta; meta; meta = meta->next)
		if (!strcmp(meta->name, name))
			return true;
	return false;
}

static bool is_by_threshold(void)
{
	const char *name = plugin_get_ctx().name;

	return name && !strcasecmp(name, CHECKER);
}

bool threshold_has_sent(const notification_t *n)
{
	return !strcmp(n->plugin, PLUGIN_NAME) && !strcasecmp(n->host, hostname_g) &&
	       has_meta(n, VALUE) && !has_meta(n, FROM_NETWORK) && is_by_threshold();
}

void threshold_remember(const notification_t *n)
{
	if (!strcmp(n->plugin, PLUGIN_NAME) && is_by_threshold())
		__atomic_store_n(alarm_of(n->host, n->plugin_instance, n->type, n->type_instance),
				 n->severity != NOTIF_OKAY, __ATOMIC_RELAXED);
}

int threshold_begin(cache_event_t *event, __attribute__((unused)) user_data_t *data)
{
	const value_list_t *vl = event->value_list;

	if (event->type == CE_VALUE_NEW && !strcmp(vl->plugin, PLUGIN_NAME) &&
	    !__atomic_load_n(alarm_of(vl->host, vl->plugin_instance, vl->type, vl->type_instance),
			     __ATOMIC_RELAXED))
		uc_set_state(plugin_get_ds(vl->type), vl, STATE_OKAY);
	return 0;
}
